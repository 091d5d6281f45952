"""Short names of policies."""

from dataclasses import replace

import pytest

from semibandits import errors
from semibandits.simulation.short_names import short_names
from support.results import make

COMMON = ", init='all'"


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["CombUCB1(alpha=1.5, init='paper')", "CTS()"], ["CombUCB1", "CTS"]),
        ([f"K(c=2.0{COMMON})", f"K(c=3.0{COMMON})", "CTS()"], ["K(c=2)", "K(c=3)", "CTS"]),
        ([f"K(c=2.5{COMMON})", f"K(c=2.5{COMMON}) #2"], ["K", "K #2"]),
        ([f"K(c=2.5{COMMON})", f"K(c=2.5{COMMON}) #2", "K(c=2.5)"], ["K(init='all')", "K(init='all') #2", "K"]),
        (["Mine()", "Mine() #2", "Mine() #3"], ["Mine", "Mine #2", "Mine #3"]),
        (["F(items=(1, 2, 3), a=1)", "F(items=(1, 2, 4), a=1)"], ["F(items=(1, 2, 3))", "F(items=(1, 2, 4))"]),
        (["F(s='a, b)', c=1)", "F(s='a, c)', c=1)"], ["F(s='a, b)')", "F(s='a, c)')"]),
        (["F(s='it\\'s, x', c=1)", "F(s='it\\'s, y', c=1)"], ["F(s='it\\'s, x')", "F(s='it\\'s, y')"]),
        (["X(1, 2)", "X(1, 3)"], ["X(1, 2)", "X(1, 3)"]),  # X(2) would be another one
        (["X(1, 2)", "X(1, 2) #2"], ["X", "X #2"]),
        (["L(<3 features>, lam=1.0)", "L(<3 features>, lam=2.0)"], ["L(lam=1)", "L(lam=2)"]),
        (["G(g=[0, 1], a=-2.0)", "G(g=[0, 1], a=-1.0)"], ["G(a=-2)", "G(a=-1)"]),
        (["A(x=1, y=2)", "A(y=2, x=1)", "B(z=1)"], ["A(x=1, y=2)", "A(y=2, x=1)", "B"]),
        (["A(x=1)", "A(x=1.0)"], ["A(x=1)", "A(x=1.0)"]),
        (["A(x=1)", "A", "plain words"], ["A(x=1)", "A", "plain words"]),
        (["A(x=1", "A)", "", "A > b, c"], ["A(x=1", "A)", "", "A > b, c"]),
        (["A()", "A"], ["A()", "A"]),
        (["A()", "A()"], ["A", "A"]),
    ],
)
def test_no_more_than_tells_them_apart(names: list[str], short: list[str]) -> None:
    assert short_names(names) == short


def test_policies_are_found_by_short_names() -> None:
    names = ("K(c=2.0, init='all')", "K(c=3.0, init='all')", "CTS()")
    result = replace(make(policies=3), policies=names)
    assert result.short_names == ["K(c=2)", "K(c=3)", "CTS"]
    assert (result.compare("K(c=3)", "CTS").a, result.compare("CTS", 1).a) == (names[1], names[2])
    with pytest.raises(errors.BadArgument, match="'K' is the name of several policies"):
        result.compare("K", "CTS")
    for wrong in ("K(c=4)", True, 3, -1, 1.5):
        with pytest.raises(errors.BadArgument, match="is no policy; there are 0: K"):
            result.compare(wrong, "CTS")  # type: ignore[arg-type]
