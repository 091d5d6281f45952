"""Graphs that sets are made of: read, reduced and searched."""
