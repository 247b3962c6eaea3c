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
        (10, "clamped", "if value < low → if True"),
        (10, "clamped", "if value < low → if False"),
        (10, "clamped", "value < low → value <= low"),
        (12, "clamped", "if value > high → if True"),
        (12, "clamped", "if value > high → if False"),
        (12, "clamped", "value > high → value >= high"),
        (17, "forgotten", "return value + 1 → return None"),
        (17, "forgotten", "value + 1 → value - 1"),
        (17, "forgotten", "1 → 2"),
    ]
    assert all(mutant.code().co_qualname == mutant.function for mutant in found)


def test_what_nobody_tests_is_reported():
    assert ran("--folders", "planted", "--count", "9") == [
        "survived: planted/clamped.py clamped: value < low → value <= low (line 10)",
        "survived: planted/clamped.py clamped: if value > high → if False (line 12)",
        "survived: planted/clamped.py clamped: value > high → value >= high (line 12)",
        "survived: planted/clamped.py forgotten: return value + 1 → return None (line 17)",
        "survived: planted/clamped.py forgotten: value + 1 → value - 1 (line 17)",
        "survived: planted/clamped.py forgotten: 1 → 2 (line 17)",
        "3 killed, 6 survived, 0 equivalent: 33.3% of those that differ are found",
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
