"""The command line as a process: pipes, terminals, encodings, exit codes, what is imported."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

HEAVY = ("numpy", "scipy", "numba", "matplotlib", "rich", "polars", "pandas", "pyarrow")
COMMAND = [sys.executable, "-m", "semibandits"]


def run(*arguments: str, env: dict[str, str] | None = None, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, env={**os.environ, **(env or {})}, **{"text": True, **options}
    )  # type: ignore[call-overload, no-any-return]


def in_terminal(*arguments: str, columns: int = 60, env: dict[str, str] | None = None) -> tuple[int, str]:
    """The exit code, and what a terminal of so many columns was sent, on both streams."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**variables, "TERM": "xterm", **(env or {})},
    ) as process:
        os.close(slave)
        sent = b""
        try:
            while select.select([master], [], [], 60.0)[0] and (part := os.read(master, 65536)):
                sent += part
        except OSError:  # Linux's way to say that the other side is closed
            pass
        os.close(master)
    return process.returncode, sent.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["reproduce", "--help"], ["compare", "-h"], ["version"], ["completion", "zsh"]]
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom semibandits.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        f"print(*[name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout
    assert done.stderr == "\n"


@pytest.mark.parametrize("arguments", [["--help"], ["completion", "zsh"], ["new", "--json"], ["policies"]])
def test_a_closed_pipe_ends_it_quietly(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # as `| true` would have done
    done = subprocess.run([*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_pipe_closed_in_the_middle_ends_it_quietly() -> None:
    much = "main.command('much')(lambda: click.echo('x' * 10**6)); main(['much'])"  # more than a pipe holds
    command = [sys.executable, "-c", f"import click; from semibandits.cli import main; {much}"]
    env = {
        name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"
    }  # Python then forgets a part
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(2) == b"xx"
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_no_standard_streams_at_all(closed: str, tmp_path: Path) -> None:
    shell = f"{sys.executable} -m semibandits new slate --folder there {closed}"
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "there" / "slate.toml").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "policies"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "error: No space left on device\n")


def test_letters_that_cannot_be_printed_do_no_harm() -> None:
    done = run("policies", "CombUCB1", env={"PYTHONIOENCODING": "latin-1"}, encoding="latin-1")
    assert done.returncode == 0, done.stderr
    assert "O(K L log n / ?)" in done.stdout
    plain = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("policies", "CombUCB1", env=plain)
    assert (done.returncode, done.stderr) == (0, "")
    done = run("policies", "CombUCB1", "--json", env=plain)
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["guarantee"].startswith("O(K L log n / Δ)")


def test_a_narrow_terminal_gets_a_block_per_row() -> None:
    code, sent = in_terminal("reproduce", "--only", "fig1a", "--no-report", env={"TERM": "dumb", "NO_COLOR": "1"})
    assert code == 0, sent
    assert max(map(len, sent.splitlines())) <= 60
    titles = [line.partition(":")[0] for line in sent.partition("part: ")[2].splitlines()]
    assert titles[:8] == ["fig1a", "claim", "from", "measured", "expected", "holds", "", "part"]
    _, sent = in_terminal("reproduce", "--only", "fig1a", "--no-report")
    assert "\n\x1b[32mholds\x1b[0m\n" in sent


def test_columns_say_how_wide_a_terminal_is() -> None:
    _, narrow = in_terminal("new", columns=200, env={"COLUMNS": "60"})
    _, wide = in_terminal("new", columns=200)
    assert max(map(len, narrow.splitlines())) <= 60
    assert len(wide.splitlines()) == 7
    assert run("new", env={"COLUMNS": "60"}).stdout == wide  # no terminal: never cut, never wrapped


def test_bad_input_is_one_line_and_status_2() -> None:
    done = run("bounds", "grid_path:m=2,sigm=0.4")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: problem grid_path has no 'sigm': did you mean 'sigma'?\n"


def test_ctrl_c_ends_it_with_130(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(
        "horizon = 1000\nruns = 1\n[problem]\nname = 'grid_path'\nm = 2\nsigma = 0.4\n[[policies]]\nname = 'CTS'\n"
        f"[sweep]\nseed = {list(range(1000))}\n"
    )
    command = [*COMMAND, "run", "long.toml", "--no-report"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not (tmp_path / "long-results" / "runs").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (130, "", "")
