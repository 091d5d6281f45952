"""Impure calls in a user's code, for things that cannot be seen in it: files, the network, the clock, chance."""

import re
from collections.abc import Iterator

from semibandits._util.fingerprint.bytecode import Reading

READERS = re.compile(
    r"(_?io|builtins|codecs|gzip|bz2|_?lzma|zipfile|tarfile|shelve|dbm|os|posix|tokenize|wave)\.(open|ZipFile|TarFile)"
    r"|os\.(listdir|scandir|walk|fdopen)|posix\.(listdir|scandir)|glob\.i?glob|_?sqlite3\.connect|mmap\.mmap"
    r"|numpy(\..+)?\.(load|loadtxt|genfromtxt|fromfile|fromregex|memmap|open_memmap)|(joblib|torch)(\..+)?\.load"
    r"|(pandas|polars|networkx|pyarrow|geopandas|duckdb)(\..+)?\.(read|scan)_\w+"
    r"|scipy(\..+)?\.(loadmat|load_npz|mmread|readsav)|h5py(\..+)?\.File|netCDF4(\..+)?\.Dataset|runpy\.run_path"
    r"|(linecache|fileinput)\.\w+|importlib\.resources\.\w+|pkgutil\.get_data"
)
"""Functions that read a file which they are given the name of."""
READING = {"read_text", "read_bytes", "open", "iterdir", "glob", "rglob", "walk"}
"""Methods of paths that do."""
LISTING = {"iterdir", "glob", "rglob", "listdir", "scandir", "walk", "iglob"}
"""Which read a folder, all of it."""
OUTSIDE = re.compile(
    r"(_?socket|_?ssl|requests|httpx|aiohttp|urllib3|ftplib|smtplib|imaplib|subprocess|_?ctypes|cffi|redis|boto3"
    r"|psycopg2?|sqlalchemy|pymongo|paramiko|grpc|webbrowser)(\..+)?"
    r"|urllib\.(request|urlopen)(\..+)?|http\.client(\..+)?|_?secrets\.\w+|uuid\.uuid[14]"
    r"|(os|posix|nt)\.(environ|environb|getenv|system|popen|urandom|getpid|getlogin|times|cpu_count|getcwd|uname|spawn\w+|exec\w+)(\..+)?"
    r"|time\.(?!sleep$|strftime$|strptime$|mktime$|struct_time$)\w+|(datetime\.)?(datetime|date)\.(now|utcnow|today)"
    r"|random\.(?!Random$)([a-z]\w*|SystemRandom)|numpy\.random\.(?!default_rng$)[a-z]\w*"
    r"|sys\.(argv|stdin|modules)(\..+)?|builtins\.(input|eval|exec|__import__|globals|id)|importlib\.(import_module|reload)"
    r"|platform\.\w+|getpass\.\w+"
)
"""What answers otherwise at other times, or elsewhere, or runs what is not seen."""
DRAWS_AFRESH = re.compile(
    r"numpy\.random(\.\w+)*\.(default_rng|SeedSequence|RandomState|PCG64|PCG64DXSM|MT19937|Philox|SFC64)|random\.Random"
)
"""Generators that begin anywhere if they are given nothing."""


def reaches(reading: Reading, names: dict[tuple[str, ...], str]) -> Iterator[str]:
    """What the code uses of the world outside; `names` tells which function or module each of its names stands for."""
    for chain, name in names.items():
        if OUTSIDE.fullmatch(name):
            yield name
        elif chain in reading.bare_calls and DRAWS_AFRESH.fullmatch(name):
            yield f"{name}() without a seed"
    if "rvs" in _asked(reading) and "random_state" not in reading.words:
        yield "rvs() without random_state"


def reads_files(reading: Reading, names: dict[tuple[str, ...], str]) -> tuple[str, int]:
    """The function by which the code opens files, and how often it opens one; "" if it does not."""
    by_name = {chain: name for chain, name in names.items() if READERS.fullmatch(name)}
    by_method = [name for name in sorted(READING & _asked(reading)) if not _is_of_module(name, reading, names)]
    count = sum(reading.chains.get(chain, 1) for chain in by_name) - reading.writes
    count += sum(reading.attributes.get(name, 1) for name in by_method)
    return (next(iter([*by_name.values(), *(f".{name}" for name in by_method)]), ""), count) if count > 0 else ("", 0)


def _asked(reading: Reading) -> set[str]:
    """Attributes of anything."""
    return {*reading.attributes, *(name for chain in reading.chains for name in chain[1:])}


def _is_of_module(name: str, reading: Reading, names: dict[tuple[str, ...], str]) -> bool:
    """Whether it is a module's function of this name that is meant, each time."""
    return name not in reading.attributes and all(chain in names for chain in reading.chains if name in chain[1:])


def lists_folders(reading: Reading) -> bool:
    return bool(LISTING & (reading.attributes.keys() | {name for chain in reading.chains for name in chain}))
