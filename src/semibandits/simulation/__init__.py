"""Experiments: many runs of many policies on one problem."""

from semibandits.simulation.result import Comparison, SimulationResult, Summary, SummaryRow
from semibandits.simulation.simulate import simulate

__all__ = ["Comparison", "SimulationResult", "Summary", "SummaryRow", "simulate"]
