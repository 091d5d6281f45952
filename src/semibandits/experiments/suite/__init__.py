"""A suite of problems that no policy was tuned to, and the table of who wins where.

>>> from semibandits.experiments import suite
>>> table = suite.play(["ties-slate"], ["CTS", "greedy"], [300], runs=4)
>>> [row.policy for row in table]
['CTS', 'greedy']
"""

from semibandits.experiments.suite.playing import Absent as Absent
from semibandits.experiments.suite.playing import absent as absent
from semibandits.experiments.suite.playing import play as play
from semibandits.experiments.suite.problems import CASES as CASES
from semibandits.experiments.suite.problems import HORIZONS as HORIZONS
from semibandits.experiments.suite.problems import Case as Case
from semibandits.experiments.suite.roster import GREEDY as GREEDY
from semibandits.experiments.suite.roster import PLAYERS as PLAYERS
from semibandits.experiments.suite.roster import TOLD as TOLD
from semibandits.experiments.suite.roster import label as label
from semibandits.experiments.suite.roster import left_out as left_out
from semibandits.experiments.suite.table import Row as Row
from semibandits.experiments.suite.table import Score as Score
from semibandits.experiments.suite.table import Table as Table
