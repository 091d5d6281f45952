"""Experiments: many runs of many policies on one problem."""

from semibandits.simulation.result import SimulationResult
from semibandits.simulation.simulate import simulate
from semibandits.simulation.summaries import Comparison, Comparisons, Summary, SummaryRow

__all__ = ["Comparison", "Comparisons", "SimulationResult", "Summary", "SummaryRow", "simulate"]
