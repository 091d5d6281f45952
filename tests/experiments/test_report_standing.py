"""Who won, by how much and how sure that is, in words."""

import dataclasses

import numpy as np

from semibandits.experiments.report import ranking
from support import results


def test_it_says_who_won_and_how_sure_that_is() -> None:
    sure = results.make(policies=3, runs=5)
    assert ranking.sentence(sure).startswith("Policy(0) has the least mean regret after 1,000 rounds, ")
    assert "less than Policy(1), the next best. The difference to every other policy is" in ranking.sentence(sure)
    two = ranking.sentence(results.make(policies=2, runs=5), "ms")
    assert " ms (" in two
    assert two.endswith("less than Policy(1), significantly so over 5 paired runs.")
    noise = np.array([[0.0] * 5, [1.0, -1.0, 2.0, -2.0, 0.1], [0.0] * 5])[:, :, None]
    tied = dataclasses.replace(sure, regret=sure.regret[[0, 0, 2]] + noise)
    assert (
        "but Policy(1) cannot be told apart from it by 5 paired runs; the other one has significantly more."
        in ranking.sentence(tied)
    )
    four = dataclasses.replace(results.make(policies=4), regret=np.concatenate([tied.regret, 2.0 * tied.regret[2:]]))
    assert ranking.sentence(four).endswith("by 5 paired runs; the others have significantly more.")
    assert ranking.sentence(dataclasses.replace(tied, regret=tied.regret[[0, 1, 1]])).endswith("by 5 paired runs.")
    assert "a single run cannot tell" in ranking.sentence(results.make(policies=2, runs=1))
    assert ranking.sentence(results.make(policies=1, runs=1)).endswith("after a single run of 1,000 rounds.")
    assert "has a mean regret of" in ranking.sentence(results.make(policies=1, runs=3))


def test_the_best_of_many_is_called_so_only_with_care() -> None:
    """Of thirty equal policies one is ahead by luck; intervals that hold together do not call that a difference."""
    generator = np.random.default_rng(0)
    wrong = []
    for _ in range(40):
        result = results.make(policies=30, runs=10, regret=generator.normal(100.0, 10.0, (30, 10, 4)))
        wrong.append(any(one.significant for one in result.comparisons()))
    assert sum(wrong) <= 6  # 5% of 40, and luck
    assert len(results.make(policies=30).comparisons()) == 29


def test_names_are_as_short_as_tells_them_apart() -> None:
    names = ("CTS()", "CombUCB1(alpha=0.5, init='paper')", "CombUCB1(alpha=1.5, init='paper')", "X(1, 2)", "X(1, 3)")
    result = results.make(policies=5)
    short = dataclasses.replace(result, policies=names).short_names
    assert short == ["CTS", "CombUCB1(alpha=0.5)", "CombUCB1(alpha=1.5)", "X(1, 2)", "X(1, 3)"]
    odd = ("A(x=1, y=2)", "A(y=2, x=1)", "A() #2", "A()", "A(x=1, y=3)")
    assert len(set(dataclasses.replace(result, policies=odd).short_names)) == 5
