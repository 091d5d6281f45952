"""The asymptotic lower bound of Graves and Lai (`theory.graves_lai_constant`), and its closed forms."""

from semibandits.theory.graves_lai.constant import Bracket, anantharam, independent_paths, lai_robbins
from semibandits.theory.graves_lai.constant import graves_lai_constant as graves_lai_constant

__all__ = ["Bracket", "anantharam", "independent_paths", "lai_robbins"]
