"""Bounds on the regret, one file per source."""

from semibandits.theory import kveton2015

__all__ = ["kveton2015"]
