"""Playing the suite: every policy on every problem, in the same worlds."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from semibandits._util.checks import check_count
from semibandits.errors import BadArgument
from semibandits.experiments.suite.folder import RUNS as RUNS_FOLDER
from semibandits.experiments.suite.folder import prepare
from semibandits.experiments.suite.problems import CASES, HORIZONS, MIDDLE, Case
from semibandits.experiments.suite.roster import PLAYERS, TOLD, Player, label, left_out, told
from semibandits.experiments.suite.table import Row, Table, cell_rows
from semibandits.simulation import simulate
from semibandits.simulation.progress import Progress, progress_bar
from semibandits.types import IndexPolicy, Policy, Weights

RUNS = 64
"""Of up to 5,000 rounds; a quarter of longer ones; and a half, or a quarter, where items are many."""
MANY_ITEMS, VERY_MANY_ITEMS = 200, 1_000


class Absent(NamedTuple):
    """A policy that does not play a problem for so many rounds."""

    problem: str
    horizon: int
    policy: str
    why: str


class Game(NamedTuple):
    """One simulation: some policies for so many rounds, of which the regret at some is kept."""

    case: Case
    players: dict[str, Player]
    horizon: int
    checkpoints: tuple[int, ...]
    runs: int

    @property
    def rounds(self) -> int:
        return len(self.players) * self.runs * self.horizon

    @property
    def folder(self) -> str:
        """Of its store: the checkpoints tell games of one problem and horizon apart."""
        return "-".join([self.case.name, str(self.case.seed), *map(str, self.checkpoints)])


def runs_of(case: Case, horizon: int, runs: int | None) -> int:
    """How many runs are played: as many as asked, or what keeps the cost of all problems alike."""
    if runs is not None:
        return runs
    n_items = case.problem.n_items
    by_rounds = 1 if horizon <= MIDDLE else 4
    by_items = 1 if n_items < MANY_ITEMS else 2 if n_items < VERY_MANY_ITEMS else 4
    return RUNS // by_rounds // by_items


def play(
    problems: Iterable[str] | None = None,
    policies: Iterable[str | Player] | None = None,
    horizons: Iterable[int] | None = None,
    *,
    instance: int = 1,
    runs: int | None = None,
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    progress: bool | Progress | None = None,
    threads: int | None = None,
) -> Table:
    """Plays policies on problems of the suite and returns the table of their regret.

    `problems` are names, or beginnings of names ("clicks", "street"); default all. `policies` are names of the roster,
    or policies of your own; default the whole roster. `horizons` are any of 300, 5,000 and 100,000, or others: a
    problem with thousands of items is played for at most 5,000 rounds. `runs` is how many, on every problem; default
    64, and fewer where that would take long. Another `instance` (2, 3, ...) has the same problems with other numbers,
    on which no policy was developed. `out` is a folder for the tables, data/ratios.csv and data/scores.csv,
    which also keeps what is finished: the same call, made again after it was stopped or with more policies, plays only
    what is missing.

    >>> print(play(["ties-slate"], ["CTS", "Random"], [300], runs=4))
    problem     rounds  best  its regret  CTS   Random
    ties-slate  300     CTS   28.21       1.00  1.18
    <BLANKLINE>
    policy  worst        where            median  best on  played
    CTS     1.00 ± 0.00  ties-slate, 300  1.00    100 %    1
    Random  1.18 ± 0.08  ties-slate, 300  1.18    0 %      1
    """
    number = check_count("instance", instance, BadArgument)
    cases = [case.other(number) for case in chosen_cases(problems)]
    players = chosen_players(policies)
    rounds = (
        HORIZONS
        if horizons is None
        else tuple(sorted({check_count("a horizon", one, BadArgument) for one in horizons}))
    )
    asked = None if runs is None else check_count("runs", runs, BadArgument)
    folder = None if out is None else prepare(out)
    games = {case: _games(case, players, rounds, asked) for case in cases}
    total = sum(game.rounds for some in games.values() for game in some)
    table: list[Row] = []
    with progress_bar(progress, total, "the suite") as bar:
        for case in cases:
            bar.say(case.name)
            regret: dict[int, dict[str, Weights]] = {}
            for game in games[case]:
                store = None if folder is None else folder.path / RUNS_FOLDER / game.folder
                for horizon, found in _play(game, seed, store, bar, threads).items():
                    regret.setdefault(horizon, {}).update(found)
            for horizon, found in sorted(regret.items()):
                in_order = {name: found[name] for name in players if name in found}
                table += cell_rows(case.name, horizon, in_order, apart={TOLD})
    played = Table(table)
    if folder is not None:
        folder.write(played, number)
    return played


def _play(
    game: Game, seed: int, store: Path | None, bar: Progress, threads: int | None
) -> dict[int, dict[str, Weights]]:
    """Regret of every run, by checkpoint and policy."""
    result = simulate(
        *(game.case.problem, list(game.players.values())),
        horizon=game.horizon,
        runs=game.runs,
        seed=seed,
        checkpoints=game.checkpoints,
        store=store,
        progress=bar,
        threads=threads,
    )
    return {
        horizon: dict(zip(game.players, result.regret[:, :, at], strict=True))
        for at, horizon in enumerate(game.checkpoints)
    }


def absent(
    problems: Iterable[str] | None = None,
    policies: Iterable[str | Player] | None = None,
    horizons: Iterable[int] | None = None,
) -> list[Absent]:
    """Who does not play where, and why."""
    players = chosen_players(policies)
    return [
        Absent(case.name, horizon, name, why)
        for case in chosen_cases(problems)
        for horizon in case.horizons
        if horizons is None or horizon in horizons
        for name, player in players.items()
        if player is not None and (why := left_out(player, case.problem, horizon))
    ]


def _games(case: Case, players: Mapping[str, Player | None], horizons: Sequence[int], runs: int | None) -> list[Game]:
    """What is to be simulated: who does not need the horizon plays short and middle ones in one go."""
    wanted = [one for one in horizons if one <= max(case.horizons)]
    games = []
    for part in ([one for one in wanted if one <= MIDDLE], *([one] for one in wanted if one > MIDDLE)):
        here = {
            name: _told(case) if player is None else player
            for name, player in players.items()
            if part and (player is None or not left_out(player, case.problem, part[-1]))
        }
        at_once = {name: player for name, player in here.items() if not player.needs_horizon}
        if at_once:
            games.append(Game(case, at_once, part[-1], tuple(part), runs_of(case, part[-1], runs)))
        for horizon in part:
            by_horizon = {
                name: player
                for name, player in players.items()
                if player is not None and player.needs_horizon and not left_out(player, case.problem, horizon)
            }
            if by_horizon:
                games.append(Game(case, by_horizon, horizon, (horizon,), runs_of(case, horizon, runs)))
    return games


@functools.cache
def _told(case: Case) -> Player:
    return told(case.problem)


def chosen_cases(names: Iterable[str] | None) -> list[Case]:
    """The problems of these names, or whose names begin so."""
    if names is None:
        return list(CASES.values())
    chosen: dict[str, Case] = {}
    for name in [names] if isinstance(names, str) else names:
        found = {one: case for one, case in CASES.items() if one == name or one.startswith(f"{name}-")}
        if not found:
            raise BadArgument(f"{name!r:.100} is no problem of the suite: they are {', '.join(CASES)}")
        chosen |= found
    return list(chosen.values())


def chosen_players(policies: Iterable[str | Player] | None) -> dict[str, Player | None]:
    """Policies by name; None stands for the one that is told more, which is another one on each problem."""
    if policies is None:
        return {**PLAYERS, TOLD: None}
    chosen: dict[str, Player | None] = {}
    for one in [policies] if isinstance(policies, str | IndexPolicy | Policy) else policies:
        if isinstance(one, IndexPolicy | Policy):
            chosen[label(one)] = one
        elif isinstance(one, str) and one in (*PLAYERS, TOLD):
            chosen[one] = PLAYERS.get(one)
        else:
            raise BadArgument(
                f"{one!r:.100} is no policy that plays the suite: they are {', '.join([*PLAYERS, repr(TOLD)])}, "
                "or policies of your own"
            )
    return chosen
