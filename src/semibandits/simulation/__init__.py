"""Experiments: many runs of many policies on one problem."""

from semibandits.simulation.result import Comparison, Comparisons, SimulationResult, Summary, SummaryRow
from semibandits.simulation.simulate import simulate

__all__ = ["Comparison", "Comparisons", "SimulationResult", "Summary", "SummaryRow", "simulate"]
