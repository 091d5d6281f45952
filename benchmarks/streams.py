"""The random streams as raw bits, for batteries of statistical tests.

    python benchmarks/streams.py --order items | RNG_test stdin64
    python benchmarks/streams.py --order items | dieharder -a -g 200
    python benchmarks/streams.py --battery

A counter-based generator has no single sequence to test: its numbers have as many orders as its name has parts. Five
of them are written here, each as 64-bit little-endian words; every order ends with the rounds, which never end.

    rounds   one item, round after round
    items    the items 0 to 999 of a round, round after round
    runs     the runs 0 to 999 of one item, round after round
    seeds    a thousand neighbouring seeds of one item, round after round
    streams  the world's, the policy's and the feedback's word of one item, round after round
"""

import argparse
import contextlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from semibandits import rng

ORDERS = ("rounds", "items", "runs", "seeds", "streams")
BLOCK = 1 << 15
"""Words drawn at once, about: 256 KiB stay in the cache."""

# Some two minutes an order. Left out: what dieharder's own list calls suspect (OPSO, OQSO and DNA: 5, 6, 7) or not to
# be used (sums: 14), and the slow ones (GCD: 17; long lags and wide words of 200 to 203, of which the short are here).
DIEHARDER = (
    *(["-d", str(test)] for test in (0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 15, 16, 100, 101, 102)),
    *(["-d", "200", "-n", str(width)] for width in (1, 2, 4, 8)),
    *(["-d", "201", "-n", str(dimensions)] for dimensions in (2, 3)),
    *(["-d", "202", "-n", str(length)] for length in (3, 5)),
    *(["-d", "203", "-n", str(lag)] for lag in (0, 1, 2, 5)),
    *(["-d", str(test)] for test in (204, 205, 206, 207, 208, 209)),
)
PRACTRAND = "1GB"
"""How much of each order PractRand reads."""


def words(order: str, seed: int) -> Iterator[NDArray[np.uint64]]:
    """The words of an order, block by block."""
    one = np.zeros(1, dtype=np.uint64)
    thousand = np.arange(1000, dtype=np.uint64)
    names, items = {
        "rounds": ([(seed, 0, rng.WORLD)], one),
        "items": ([(seed, 0, rng.WORLD)], thousand),
        "runs": ([(seed, run, rng.WORLD) for run in range(1000)], one),
        "seeds": ([((seed + step) % 2**64, 0, rng.WORLD) for step in range(1000)], one),
        "streams": ([(seed, 0, stream) for stream in (rng.WORLD, rng.POLICY, rng.FEEDBACK)], one),
    }[order]
    above = np.array([rng.stream_key(*name) for name in names], dtype=np.uint64)
    height = max(1, BLOCK // (len(above) * len(items)))
    for first in itertools.count(1, height):
        rounds = np.arange(first, first + height, dtype=np.uint64)
        yield rng.bits(rng.below(above, rounds[:, None])[:, :, None], items)


def write(order: str, seed: int, out: IO[bytes], limit: int | None = None) -> None:
    """Writes an order until the reader has had enough, or `limit` bytes."""
    left = limit
    for block in words(order, seed):
        raw = block.astype("<u8", copy=False).tobytes()[:left]
        out.write(raw)
        if left is not None:
            left -= len(raw)
            if left == 0:
                return


def judged(command: list[str], order: str, seed: int) -> str:
    """What a program says of an order that it reads from its standard input."""
    with tempfile.TemporaryFile() as said:
        reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.STDOUT)
        with contextlib.suppress(BrokenPipeError), reader:
            assert reader.stdin is not None
            write(order, seed, reader.stdin)
        said.seek(0)
        return said.read().decode(errors="replace")


def practrand(program: str, order: str, seed: int) -> tuple[int, list[str], list[str]]:
    """How many results PractRand found, the lines it doubts and the lines it fails."""
    lines = judged([program, "stdin64", "-tlmax", PRACTRAND], order, seed).splitlines()
    results = sum(int(number) for line in lines for number in re.findall(r"(\d+) test result\(s\)", line))
    failed = [line for line in lines if "FAIL" in line]
    doubted = [line for line in lines if re.search(r"unusual|suspicious", line, re.IGNORECASE)]
    return results + len(failed) + len(doubted), doubted, failed


def dieharder(program: str, order: str, seed: int) -> tuple[int, list[str], list[str]]:
    """How many results dieharder found, the lines it doubts and the lines it fails."""
    lines = []
    for test in DIEHARDER:
        answer = judged([program, *test, "-g", "200"], order, seed).splitlines()
        verdicts = [line for line in answer if re.search(r"\|\s*(PASSED|WEAK|FAILED)\s*$", line)]
        lines += verdicts or [f"dieharder {' '.join(test)}: FAILED to answer"]
    return len(lines), [line for line in lines if "WEAK" in line], [line for line in lines if "FAILED" in line]


def battery(seed: int) -> int:
    """Puts every order through every battery found; 1 if one fails, 2 if there is no battery."""
    judges = {"RNG_test": practrand, "dieharder": dieharder}
    found = [name for name in judges if shutil.which(name)]
    broken = False
    for name, order in itertools.product(found, ORDERS):
        start = time.perf_counter()
        results, doubted, failed = judges[name](name, order, seed)
        broken |= bool(failed) or results == 0
        print(
            f"{name:9} {order:8} {results:4} results: {results - len(doubted) - len(failed)} passed, "
            f"{len(doubted)} weak, {len(failed)} failed ({time.perf_counter() - start:.0f} s)",
            *(line.strip() for line in doubted + failed),
            sep="\n    ",
            flush=True,
        )
    if not found:
        print(
            "no battery found: install dieharder (Debian: apt install dieharder)\n"
            "or put RNG_test of PractRand (https://pracrand.sourceforge.net) on the PATH",
            file=sys.stderr,
        )
        return 2
    return int(broken)


def seed(text: str) -> int:
    return rng.check_seed(int(text))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--order", choices=ORDERS, default="rounds")
    parser.add_argument("--bytes", type=int, metavar="N", help="stop after N bytes (default: never)")
    parser.add_argument("--seed", type=seed, default=7)
    parser.add_argument("--battery", action="store_true", help="put every order through PractRand, dieharder or both")
    options = parser.parse_args()
    if options.bytes is not None and options.bytes < 0:
        parser.error("--bytes must not be negative")
    if options.battery:
        return battery(options.seed)
    try:
        write(options.order, options.seed, sys.stdout.buffer, options.bytes)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
