"""The campaign finds what is not tested, and its sample of the mistakes that must be found is found."""

import subprocess
import sys

from tests.mutation.campaign import FOLDERS, ROOT, population, sample
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutants import mutants

MUST_BE_KILLED = (
    "unify.py Unifier.rollback: del self.postponed[postponed:] → pass",
    "unify.py Unifier.rollback: del self.undecided[undecided:] → pass",
    "unify.py Unifier.forget: self._told = 0 → pass",
    "unify.py Unifier.bind: leaf is variable → leaf is not variable",
    "node_types.py NodeTypes.finish: if fact → if False",
)


def ran(*arguments):
    """What a campaign in a process of its own says: it forks, which a process with threads must not."""
    command = [sys.executable, "-m", "tests.mutation", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def test_every_mistake_is_made_once_and_where_it_belongs():
    found = mutants(ROOT / "tests/mutation/planted/clamped.py")
    assert [(mutant.line, mutant.function, f"{mutant.before} → {mutant.after}") for mutant in found] == [
        (13, "clamped", "if value < low → if True"),
        (13, "clamped", "if value < low → if False"),
        (13, "clamped", "value < low → value <= low"),
        (15, "clamped", "if value > high → if True"),
        (15, "clamped", "if value > high → if False"),
        (15, "clamped", "value > high → value >= high"),
        (20, "forgotten", "return value + 1 → return None"),
        (20, "forgotten", "value + 1 → value - 1"),
        (20, "forgotten", "1 → 2"),
        (28, "_positive", "if value > 0 → if True"),
        (28, "_positive", "if value > 0 → if False"),
        (28, "_positive", "value > 0 → value >= 0"),
        (28, "_positive", "0 → 1"),
        (28, "_positive", "0 → 1"),
        (40, "successor", "value + 1 → value - 1"),
        (40, "successor", "1 → 2"),
    ]
    assert all(mutant.code().co_qualname == mutant.function for mutant in found)


def test_each_mistake_has_a_name_of_its_own():
    first, second = (each.name for each in mutants(ROOT / "tests/mutation/planted/clamped.py") if each.before == "0")
    assert (first, second) == ("planted/clamped.py _positive: 0 → 1", "planted/clamped.py _positive: 0 → 1 (2)")
    everything = [mutant.name for mutant in population()]
    assert len(set(everything)) == len(everything)


def test_what_nobody_tests_is_reported():
    assert ran("--folders", "planted", "--count", "16") == [
        "survived: planted/clamped.py clamped: value < low → value <= low (line 13)",
        "survived: planted/clamped.py clamped: if value > high → if False (line 15)",
        "survived: planted/clamped.py clamped: value > high → value >= high (line 15)",
        "survived: planted/clamped.py forgotten: return value + 1 → return None (line 20)",
        "survived: planted/clamped.py forgotten: value + 1 → value - 1 (line 20)",
        "survived: planted/clamped.py forgotten: 1 → 2 (line 20)",
        "survived: planted/clamped.py _positive: value > 0 → value >= 0 (line 28)",
        "9 killed, 7 survived, 0 equivalent: 56.2% of those that differ are found",
    ]


def test_the_same_seed_draws_the_same_mistakes():
    everything = population(["arith"])
    drawn = [mutant.name for mutant in sample(everything, 20, 1)]
    assert drawn == [mutant.name for mutant in sample(everything, 20, 1)]
    assert drawn != [mutant.name for mutant in sample(everything, 20, 2)]


def test_mistakes_that_must_be_found():
    (summary,) = ran("--only", *MUST_BE_KILLED)
    assert summary == "5 killed, 0 survived, 0 equivalent: 100.0% of those that differ are found"


def test_what_is_said_to_be_equivalent_is_there():
    assert set(EQUIVALENT) <= {mutant.name for mutant in population(FOLDERS)}
