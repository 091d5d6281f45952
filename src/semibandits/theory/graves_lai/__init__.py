"""The asymptotic lower bound of Graves and Lai, and its closed forms."""

from semibandits.theory.graves_lai.constant import (
    Bracket,
    anantharam,
    graves_lai_constant,
    independent_paths,
    lai_robbins,
)

__all__ = ["Bracket", "anantharam", "graves_lai_constant", "independent_paths", "lai_robbins"]
