"""Policies that are a formula per item, one file each."""
