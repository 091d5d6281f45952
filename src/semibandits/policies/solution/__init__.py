"""Policies that choose whole solutions, one file each; `CompiledPolicy` is what those of one's own are made of."""

from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels, best_of, score_items

__all__ = ["CompiledPolicy", "PolicyKernels", "best_of", "score_items"]
