"""Stochastic combinatorial semi-bandits: pick a feasible subset, see what each item was worth, pick better."""

from semibandits import environments, errors, policies, problems, rng, sets, testing, theory
from semibandits.errors import SemiBanditError
from semibandits.learner import Learner
from semibandits.problem import Problem
from semibandits.simulation import SimulationResult, simulate
from semibandits.types import Decision, Environment, FeasibleSet, IndexPolicy, Policy

__version__ = "0.1.0"

__all__ = [
    "Decision",
    "Environment",
    "FeasibleSet",
    "IndexPolicy",
    "Learner",
    "Policy",
    "Problem",
    "SemiBanditError",
    "SimulationResult",
    "environments",
    "errors",
    "policies",
    "problems",
    "rng",
    "sets",
    "simulate",
    "testing",
    "theory",
]
