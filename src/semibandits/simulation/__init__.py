"""Experiments: many runs of many policies on one problem."""

from semibandits.simulation.result import SimulationResult, Summary, SummaryRow
from semibandits.simulation.simulate import simulate

__all__ = ["SimulationResult", "Summary", "SummaryRow", "simulate"]
