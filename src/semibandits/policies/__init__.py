"""Policies: how to score items from what was observed."""

from semibandits.policies.combucb1 import CombUCB1

__all__ = ["CombUCB1"]
