"""Wrong constants and steps must turn tests red: each mutant is planted in a copy of the package and hunted there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
POLICY, POOLED = "policies/index/combucb1.py", "policies/index/pooled_cts.py"

MUTANTS = {
    "t for t-1 in the radius": (POLICY, "log(max(round - 1, 1))", "log(max(round, 1))"),
    "alpha 1.4": (POLICY, "alpha: float = 1.5", "alpha: float = 1.4"),
    "Init averages": ("agent/index.py", 'overwrites = choice.initial and self.init == "paper"', "overwrites = False"),
    "counts start at 0 after Init": (
        "agent/index.py",
        "(setitem, self.init_x, items, x)]",
        "(setitem, self.init_x, items, x), (setitem, self.stats[0], items, 0.0)]",
    ),
    "maximise 1 - w": ("agent/scale.py", "_cost_of_x, _negated_cost_of_x, _x", "_cost_of_x, _same, _x"),
    "one stream for world and policy": ("rng.py", "POLICY = 1", "POLICY = 0"),
    "natural log to base 2": (POLICY, "sqrt(p[0] * log(", "sqrt(p[0] * 1.4427 * log("),
    "width 1/count": (POLICY, "sum_, 1.0 / sqrt(count))", "sum_, 1.0 / count)"),
    "the oldest of Init's observations wins": (
        "agent/index.py",
        "self.init_round[items] < round",
        "self.init_round[items] == 0",
    ),
    "costs not negated": ("agent/scale.py", "_cost_of_x, _negated_cost_of_x,", "_cost_of_x, _cost_of_x,"),
    "last of tied solutions": (
        "sets/enumerated.py",
        "best = int(np.argmax(totals))",
        "best = totals.size - 1 - int(np.argmax(totals[::-1]))",
    ),
}
HUNTERS = [
    "tests/policies/test_combucb1.py",
    "tests/live/test_learner.py",
    "tests/test_rng.py",
    "tests/sets/test_ties.py",
]

# In what only machine code does.
POOLING = "simulation/engines/lanes_pooling.py"
BLOCK, TOP_K, PATHS = "simulation/engines/lanes.py", "sets/oracles/top_k_lanes.py", "sets/oracles/paths_lanes.py"
SOLVING, ENGINE = "simulation/engines/lanes_solving.py", "simulation/engines/lanes_engine.py"
ENGINE_MUTANTS = {
    "last of tied arcs": (
        PATHS,
        """                better = y > x
                value[v, lane] = (y if better else x) + 0.0 * (x + y)
                best[v, lane] = b if""",
        """                better = y >= x
                value[v, lane] = (y if better else x) + 0.0 * (x + y)
                best[v, lane] = b if""",
    ),
    "paths not in order": (PATHS, "    ascending(chosen, items[-1], words)\n", ""),
    "last of tied items, by insertion": (TOP_K, "up, here = x > a, x > b", "up, here = x >= a, x >= b"),
    "a tied item too few": (TOP_K, "== threshold and ties > 0", "== threshold and ties > 1"),
    "last of tied solutions, in lanes": (
        "sets/oracles/enumerated.py",
        "total[lane] > best[lane]",
        "total[lane] >= best[lane]",
    ),
    "Init never forgets": (BLOCK, "if before > 0:", "if before > 9:"),
    "coins of feedback from another stream": (
        BLOCK,
        "below(block.streams[FEEDBACK, lane], round)",
        "below(block.streams[POLICY, lane], round)",
    ),
    "all items toss the first one's coin": (
        BLOCK,
        "keys[FEEDBACK, lane], np.uint64(real), p",
        "keys[FEEDBACK, lane], 0, p",
    ),
    "a round too late": (BLOCK, "clock(round, np.uint64(0), p)", "clock(round + 1, np.uint64(0), p)"),
    "padding counts": (
        "simulation/engines/constants.py",
        "np.append(problem.means, 0.0)",
        "np.append(problem.means, 0.5)",
    ),
}
LANE_MUTANTS = {
    "always the same second attempt": (
        SOLVING,
        "below(key, attempt) if attempt > 0 else key",
        "below(key, 1) if attempt > 0 else key",
    ),
    "another round leaves the window": (BLOCK, "round - ring.shape[0]", "round - ring.shape[0] + 1"),
    "nothing leaves the window": (BLOCK, "if oldest > 0:", "if oldest > 10**9:"),
    "rejected scores stay": (SOLVING, "if new > 0:", "if new > 32:"),
}
POOL_MUTANTS = {
    "totals of all rounds": (POOLING, "totals[number, 0, lane] = 0.0", "totals[number, 0, lane] += 0.0"),
    "the last item keeps its share": (
        POOLING,
        "range(np.uint32(stats.shape[1] - 1)):\n        if scale_at",
        "range(np.uint32(stats.shape[1] - 2)):\n        if scale_at",
    ),
    "padding has a share": (
        POOLING,
        "range(np.uint32(stats.shape[1] - 1)):\n        if scale_at",
        "range(np.uint32(stats.shape[1])):\n        if scale_at",
    ),
    "the first run's totals for all": (POOLING, "load_totals(totals, 0, lane)", "load_totals(totals, 0, 0)"),
    "shares of the next round": (
        POOLING,
        "share(load(stats, item, lane), round, p)",
        "share(load(stats, item, lane), round + 1, p)",
    ),
    "items whose weight is known have a share": (POOLING, "scale_at(lo, item) < scale_at(hi, item)", "True"),
    "a share too few, live": (
        "agent/scores.py",
        "for item in range(stats.shape[1]):",
        "for item in range(stats.shape[1] - 1):",
    ),
    "pooled() divides by zero": (ENGINE, "{self.bindings.clock, self.bindings.pooled}", "{self.bindings.clock}"),
}
# In oracles: which families notice.
SET_MUTANTS = {
    "an edge that closes a cycle": (
        "sets/oracles/spanning_tree.py",
        "    if a != b:\n        above[a] = b",
        "    if a <= b:\n        above[a] = b",
    ),
    "a knapsack without a bottom": ("sets/oracles/knapsack.py", "            capacity -= costs[j]\n", ""),
    "only half of the way counts": (
        "sets/oracles/dijkstra.py",
        "whole = there + distance[other + across]",
        "whole = there",
    ),
    "everything fits a greedy knapsack": ("sets/oracles/greedy_knapsack.py", "fits = cost <= left", "fits = True"),
    "items of the first block": ("sets/oracles/product.py", "out[k] += first", "out[k] += 0"),
    "a promise of everything": ("problem.py", "return ratio * best if self.sense", "return best if self.sense"),
}
# In what is done to learners.
LIVE_MUTANTS = {
    "totals of the pool without what lies between": (POOLED, "apart * apart * (count", "0.0 * apart * (count"),
    "late totals in full": (
        "policies/index/discounted.py",
        "exp((later - round) * p[2])\n        return (s[0] * old + counts",
        "1.0 + 0.0 * round\n        return (s[0] * old + counts",
    ),
    "one observation too few": ("types/policies.py", "(s[0] + (counts - 1.0), s[1]", "(s[0] + (counts - 2.0), s[1]"),
    "another scale as it is": ("agent/scale.py", "a, b = distance / other_width,", "a, b = 0.0 * distance,"),
    "a batch that forgets itself": (
        "live/asking.py",
        "claimed[choice.items] += 1",
        "claimed[choice.items] += 0",
    ),
    "two asks of one round": (
        "live/updates.py",
        "max(self.round, max(self.reserved, default=0)) + 1",
        "self.round + 1",
    ),
    "the solver under the lock": (
        "live/asking.py",
        "choice = solving()",
        "choice = self._changes.make(None, lambda: (solving(), []), ())",
    ),
    "a window that waits": ("agent/index.py", "self._beyond(round - 1) if self.policy.window else []", "[]"),
    "expiry the wrong way round": ("live/learner.py", "if one.time < before]", "if one.time > before]"),
    "clipped without a word": (
        "live/reading.py",
        "beyond = (values < least) | (values > most)\n        return clipped, beyond if beyond.any() else None",
        "return clipped, None",
    ),
    "bounds of other items": (
        "live/matching.py",
        "(side if order is None or isinstance(side, float) else _taken(side, order) for side in saved.bounds)",
        "saved.bounds",
    ),
}
KINDS = ("asking", "change_policy", "expire", "outside", "totals", "concurrent_model")
LIVE_HUNTERS = [f"tests/live/test_{name}.py" for name in KINDS]
LIVE_HUNTERS.append("tests/live/test_bounds_per_item_live.py")
SET_HUNTERS = [
    *("tests/sets/test_families.py", "tests/sets/test_product.py", "tests/simulation/test_ratio.py"),
    *("-k", "Graphic or Knapsack or directed or block or ratio"),
]
PAPER, TIGHT, CATALOGUE = "theory/kveton2015.py", "theory/tight.py", "theory/catalogue.py"
TERMS = "theory/terms.py"
THEORY_MUTANTS = {
    "Theorem 2 with 47": (PAPER, "* 48.0 /", "* 47.0 /"),
    "Theorem 5 with 533": (PAPER, "K * 534.0", "K * 533.0"),
    "Theorem 6 with 46": (PAPER, "47.0 * np.sqrt", "46.0 * np.sqrt"),
    "Proposition 1 with 3": (PAPER, "(4.0 * gap)", "(3.0 * gap)"),
    "B with K": (TIGHT, "24.0 * (K - 1) if K > 1", "24.0 * K if K > 1"),
    "D with 2√5": (TIGHT, "2.0 * math.sqrt(6.0) * np.sqrt", "2.0 * math.sqrt(5.0) * np.sqrt"),
    "C with 23": ("theory/ratio.py", "(hi - lo) * 24.0", "(hi - lo) * 23.0"),
    "matroids with 11": ("theory/matroid.py", "_with_constant(12.0", "_with_constant(11.0"),
    "gaps not scaled": (CATALOGUE, "unit(1.0 / facts.span)", "unit(1.0)"),
    "additive term of the span": (TERMS, "(worst_loss(pair) - (pair[1] - pair[0]))", "0.0"),
    "additive term of spans per item": (TERMS, "(largest_loss(bounds, K) - largest_sum(spans, K))", "0.0"),
    "spans that are not squared": (TERMS, "float((spans * spans).sum())", "float(spans.sum())"),
    "gaps by spans that are not squared": (TERMS, "float((c * (c / counted)).sum())", "float((c / counted).sum())"),
    "one gap of many": ("theory/facts.py", "most - least > 1e-9 * most", "False"),
    "independent whatever the groups": (CATALOGUE, "lambda facts: facts.independent_items", "lambda facts: True"),
    "every oracle exact": (
        CATALOGUE,
        '"exact oracle", lambda facts: facts.exact_oracle',
        '"exact oracle", lambda facts: True',
    ),
}
POLICY_MUTANTS = {
    "KL-UCB with 3 log log t": ("policies/index/kl_ucb.py", "c: float = 2.0", "c: float = 3.0"),
    "KL-UCB a round late": ("policies/index/kl_ucb.py", "(log(round) + p[0]", "(log(max(round - 1, 1)) + p[0]"),
    "KL-UCB not lifted": ("policies/index/kl_ucb.py", "LIFT = 1e-7", "LIFT = 0.0"),
    "KL-UCB with a coarser series": ("policies/index/kl_ucb.py", "1.25 * z", "1.2 * z"),
    "UCB-V with 3 log t / T": ("policies/index/ucb_v.py", "+ 3.0 * e", "+ 1.0 * e"),
    "UCB-V with half the variance": ("policies/index/ucb_v.py", "sqrt(2.0 * where", "sqrt(1.0 * where"),
    "CMOSS in natural logarithms": ("policies/index/cmoss.py", "math.log2(size)", "math.log(size)"),
    "CMOSS without K": ("policies/index/cmoss.py", "size / (game.n_items *", "1.0 / (game.n_items *"),
    "OMM with 1.5": ("policies/index/omm.py", "return (2.0,)", "return (1.5,)"),
    "OMM anywhere": ("policies/index/omm.py", "if not feasible.matroid:", "if False:"),
    "Beta(2, .)": ("policies/index/cts.py", "return beta_with(1.0 + s[2]", "return beta_with(2.0 + s[2]"),
    "a threshold for a coin": (
        "policies/index/cts.py",
        "where(uniform(key, item) < x, 1.0, 0.0)",
        "where(0.5 < x, 1.0, 0.0)",
    ),
    "sigma squared": ("policies/index/gaussian_cts.py", "return (self.sigma,)", "return (self.sigma * self.sigma,)"),
    "no boost of K + 2": ("policies/index/bg_cts.py", "game.max_size + 2.0", "game.max_size + 1.0"),
    "half the boost": ("policies/index/bg_cts.py", "2.0 * (1.0 + self.lam)", "1.0 + self.lam"),
    "CL-SG with 0.2": ("policies/index/cl_sg.py", "gamma: float = 0.1", "gamma: float = 0.2"),
    "CL-SG with T": ("policies/index/cl_sg.py", "1.0 / sqrt(count + 1.0)", "1.0 / sqrt(count)"),
    "exploring twice as rarely": (
        "policies/index/epsilon_greedy.py",
        "exp(-p[1] * log(round))",
        "exp(-2.0 * p[1] * log(round))",
    ),
    "exploring a round less": (
        "policies/index/explore_then_commit.py",
        "(where(round <= p[0], 1.0, 0.0),)",
        "(where(round < p[0], 1.0, 0.0),)",
    ),
    "n^(1/2) rounds": ("policies/index/explore_then_commit.py", "2.0 / 3.0", "1.0 / 2.0"),
    "a window that is no clock": (
        "policies/index/sliding_window.py",
        "log(min(max(round - 1, 1), p[1]))",
        "log(max(round - 1, 1))",
    ),
    "forgotten items are no hope": (
        "policies/index/sliding_window.py",
        "(s[1] * s[2] + c[0]), 1.0 + c[0])",
        "(s[1] * s[2] + c[0]), 1.0)",
    ),
    "discounted a round more": ("policies/index/discounted.py", "exp((round - 1.0) * p[2])", "exp(round * p[2])"),
    "late feedback counts in full": (
        "policies/index/discounted.py",
        "exp((later - round) * p[2])\n        return (s[0] * old + new",
        "1.0 + 0.0 * round\n        return (s[0] * old + new",
    ),
    "an item's word worth 3 observations": (POOLED, "OWN = 4.0", "OWN = 3.0"),
    "others' level worth 12": (POOLED, "LEVEL = 10.0", "LEVEL = 12.0"),
    "twice the doubt": (POOLED, "DOUBT = 1e-3", "DOUBT = 2e-3"),
    "a tenth of the most": (POOLED, "MOST = 1e-12, 1e12", "MOST = 1e-12, 1e11"),
    "a fifth of the variance": (POOLED, "SURE, UNSURE = 0.1, 1.0", "SURE, UNSURE = 0.2, 1.0"),
    "never the whole variance": (POOLED, "SURE, UNSURE = 0.1, 1.0", "SURE, UNSURE = 0.1, 0.8"),
    "what is seen more is drawn wider": (
        POOLED,
        "drawn = ln(more)",
        "drawn = -ln(more)",
    ),
    "hundreds of rounds until it has faded": (POOLED, "FADED = 0.01", "FADED = 0.001"),
    "distances from the old mean": (POOLED, "(x - mean) * (x - total / after)", "(x - mean) * (x - mean)"),
    "distances that grow when forgotten": (POOLED, "s[2] - (x - sum_ / some)", "s[2] + (x - sum_ / some)"),
    "late feedback of the pool in full": (
        POOLED,
        "exp((later - round) * p[0])\n        count, sum_ = s[0]",
        "1.0 + 0.0 * round\n        count, sum_ = s[0]",
    ),
    "the pool a round late": (POOLED, "believed(s, round - 1.0, p)", "believed(s, 1.0 * round, p)"),
    "the draws a round late": (POOLED, "return (round - 1.0,)", "return (1.0 * round,)"),
    "variance of n for n - 1": (POOLED, "count - 1.0, 0.0)\n    return", "count, 0.0)\n    return"),
    "no noise in the items' means": (POOLED, "- variance * (once / some)", "- 0.0 * (once / some)"),
    "more variance between items": (POOLED, "- variance * (once / some)", "+ variance * (once / some)"),
    "a level of good alone": (POOLED, "worth * (1.0 - level),", "worth * level,"),
    "what is bad is good": (POOLED, "c[3] + count * (1.0 - mean)", "c[3] + count * mean"),
    "unseen items in the middle": (POOLED, "return 1.0 - TIE", "return 0.5 - TIE"),
    "gamma with 0.3": ("draws.py", "shape - 1.0 / 3.0", "shape - 0.3"),
    "beta with half the chance": ("draws.py", "log_chance + log_other", "log_chance"),
    "normal with 1.9": ("draws.py", "sqrt(-2.0 * ln(", "sqrt(-1.9 * ln("),
    "a coarser logarithm": ("kernel/elementary.py", "0.39999999999899444", "0.4000000001"),
}
SOLO = "simulation/engines/single.py"
SOLO_MUTANTS = {
    "the sum of x for the sum of weights": (
        SOLO,
        "sum += weight if SUM_OF_WEIGHTS else",
        "sum += weight if False else",
    ),
    "the policy draws what the world draws": (
        SOLO,
        "below(run.streams[POLICY], round)",
        "below(run.streams[WORLD], round)",
    ),
    "a solution of the round before": (
        SOLO,
        "run.trace[round - run.cursor[TRACED_FROM], k, 0] = run.out[k]",
        "run.trace[round - run.cursor[TRACED_FROM], k, 0] = run.out[0]",
    ),
    "the best of the first round": (SOLO, "missed = constants.reference[round - 1]", "missed = constants.reference[0]"),
}
WIDE_MUTANTS = {
    "ESCB with f": ("policies/solution/escb.py", "half = 0.5 * exploration", "half = 1.0 * exploration"),
    "ESCB with 3 K log log t": ("policies/solution/escb.py", "c: float = 4.0", "c: float = 3.0"),
    "OLS-UCB with K + 1": ("policies/solution/ols_ucb.py", "k + 2.0, last", "k + 1.0, last"),
    "OLS-UCB without what two items share": (
        "policies/solution/ols_ucb.py",
        "share = 2.0 * covariance",
        "share = 0.0 * covariance",
    ),
    "FPL with η of L": (
        "policies/solution/fpl.py",
        "eta = math.sqrt(width / (2.0 * n_items",
        "eta = math.sqrt(width / (1.0 * n_items",
    ),
    "FPL that counts a redraw more": ("policies/solution/fpl.py", "note[i] = redraws\n", "note[i] = redraws + 1\n"),
    "OSMD with η of K": (
        "policies/solution/osmd.py",
        "math.sqrt(2.0 * few * distance",
        "math.sqrt(1.0 * few * distance",
    ),
    "INF with 1/n": ("policies/solution/osmd.py", "math.sqrt(2.0 / n)", "math.sqrt(1.0 / n)"),
    "HYBRID with γ = 1": (
        "policies/solution/hybrid.py",
        "min(1.0, 1.0 / math.sqrt(math.log(n_items / (n_items - size))))",
        "1.0",
    ),
    "COMBAND with d + B²/λ": (
        "policies/solution/comband.py",
        "span.items.size + 2.0 * per_eta",
        "span.items.size + per_eta",
    ),
    "OFUL with R = K": ("policies/solution/oful.py", "0.5 * game.max_size", "1.0 * game.max_size"),
}
LONG_HUNTED = {
    "coins of feedback from another stream",
    "all items toss the first one's coin",
    "the best of the first round",
}
"""Only pairs that `make test-alike` plays show these."""
HUNTED_IN = {"oful": "lin_ucb", "escb": "escb_policy"}
ALL = {
    **MUTANTS,
    **ENGINE_MUTANTS,
    **LANE_MUTANTS,
    **POOL_MUTANTS,
    **SET_MUTANTS,
    **THEORY_MUTANTS,
    **LIVE_MUTANTS,
    **POLICY_MUTANTS,
    **SOLO_MUTANTS,
    **WIDE_MUTANTS,
}


def hunt(folder: Path, mutant: tuple[str, str, str] | None, hunters: list[str]) -> "subprocess.CompletedProcess[str]":
    """Runs the hunters on a copy of the package with this mutant in it."""
    for part in ("src", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    if mutant is not None:
        file, old, new = mutant
        path = folder / "src" / "semibandits" / file
        path.write_text(path.read_text().replace(old, new))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-m", "not long", *hunters]
    env = {**os.environ, "PYTHONPATH": str(folder / "src")}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("mutant", ALL)
def test_mutants_have_their_place(mutant: str) -> None:
    file, old, _ = ALL[mutant]
    assert (ROOT / "src" / "semibandits" / file).read_text().count(old) == 1


@pytest.mark.long
@pytest.mark.parametrize("mutant", ALL)
def test_mutants_are_caught(mutant: str, tmp_path: Path) -> None:
    hunters = SET_HUNTERS if mutant in SET_MUTANTS else HUNTERS
    if mutant in THEORY_MUTANTS:
        hunters = ["tests/theory"]
    if mutant in LIVE_MUTANTS:
        hunters = LIVE_HUNTERS
    if mutant in POLICY_MUTANTS:
        name = Path(ALL[mutant][0]).stem
        room = ALL[mutant][0].partition("/")[0]
        folder = f"tests/{room}/" if room in ("policies", "kernel") else "tests/"
        live = ["tests/live/test_windows_live.py"] if name in ("sliding_window", "discounted") else []
        hunters = [f"{folder}test_{name}.py", *live, "-k", "not regret and not wrong_constants"]
    if mutant in LANE_MUTANTS:
        hunters = ["tests/simulation/test_policies_on_sets.py", "-k", "CTS or Window"]
    if mutant in POOL_MUTANTS:
        hunters = ["tests/simulation/test_pooling.py", "tests/agent/test_scoring.py"]
        hunters += ["-k", "everywhere or clock or division or equal"]
    if mutant in WIDE_MUTANTS:
        name = Path(ALL[mutant][0]).stem
        hunters = [f"tests/policies/test_{HUNTED_IN.get(name, name)}.py"]
    if mutant in SOLO_MUTANTS:
        hunters = ["tests/environments/test_adversarial.py", "tests/simulation/test_solo_engine.py"]
        hunters.append("tests/simulation/test_bandit_feedback.py")
    if mutant in ENGINE_MUTANTS:
        hunters = ["tests/simulation/test_engine.py", "-k", "agree or users"]
    if mutant in LONG_HUNTED:
        hunters = [*hunters, "-m", ""]
    result = hunt(tmp_path, ALL[mutant], hunters)
    assert result.returncode == 1, f"survived:\n{result.stdout[-3000:]}"


@pytest.mark.long
def test_the_hunters_leave_sound_code_alone(tmp_path: Path) -> None:
    result = hunt(tmp_path, None, HUNTERS)
    assert result.returncode == 0, result.stdout[-3000:]
