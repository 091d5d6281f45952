"""Experiment files: reading them, and building what they describe."""
