"""Which mistakes the nearest tests find. Each mutant lives in a process of its own, forked from one that has everything
loaded: the code of its function is put in place of the function's own, and the tests run.

Existing tools were looked at: they write the mutants of a whole package to a copy of the tree and start Python anew for
each, which costs the import of the compiler every time.
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from inspect import getattr_static
from pathlib import Path
from random import Random
from types import CodeType, FunctionType
from typing import Any

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutants import Mutant, mutants

ROOT = Path(__file__).parents[2]
FOLDERS = ("arith", "infer", "ir", "normalize")
SOURCES = {folder: ROOT / "src/relay" / folder for folder in FOLDERS}
SOURCES["planted"] = ROOT / "tests/mutation/planted"
ELSEWHERE = {"normalize": ("tests/transform/test_golden_passes.py", "NormalForm or CPS")}
"""The tests of folders that stand elsewhere, besides their own: a file, and which of it."""
MEMORY_BYTES = 8 << 30
SECONDS = 60

Check = Callable[[], bool]


class Fate(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True)
class Report:
    """The fates of the mutants of a campaign, in its order."""

    fates: tuple[tuple[Mutant, Fate], ...]

    def of(self, fate: Fate) -> list[Mutant]:
        return [mutant for mutant, met in self.fates if met is fate]

    @property
    def killed_share(self) -> float:
        """The share of the mutants that differ from what they stand for which the tests found."""
        killed, survived = len(self.of(Fate.KILLED)), len(self.of(Fate.SURVIVED))
        return killed / max(killed + survived, 1)

    def __str__(self) -> str:
        lines = [f"survived: {mutant.name} (line {mutant.line})" for mutant in self.of(Fate.SURVIVED)]
        lines += [f"equivalent: {mutant.name}: {EQUIVALENT[mutant.name]}" for mutant in self.of(Fate.EQUIVALENT)]
        counts = ", ".join(f"{len(self.of(fate))} {fate.value}" for fate in Fate)
        return "\n".join([*lines, f"{counts}: {self.killed_share:.1%} of those that differ are found"])


def population(folders: Iterable[str] = FOLDERS) -> list[Mutant]:
    """All mutants of the modules of folders."""
    return [mutant for path in modules(folders) for mutant in mutants(path)]


def modules(folders: Iterable[str]) -> list[Path]:
    return sorted(path for folder in folders for path in SOURCES[folder].rglob("*.py"))


def sample(population: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """`count` mutants, the same for the same seed, in the order of the text."""
    chosen = Random(seed).sample(range(len(population)), min(count, len(population)))
    return [population[at] for at in sorted(chosen)]


def campaign(chosen: Iterable[Mutant], note: Callable[[str], None] = lambda line: None) -> Report:
    """Run the nearest tests of each mutant. Everything is loaded before, once.

    Raises `ValueError` when they fail without a mistake: then they would find whatever there is.
    """
    load()
    chosen = list(chosen)
    for path in {folder_of(mutant.path): mutant.path for mutant in chosen}.values():
        if fate_of(None, lambda path=path: nearest_tests_pass(path)) is Fate.KILLED:
            raise ValueError(f"the tests of {folder_of(path)} fail as they are")
    fates: list[tuple[Mutant, Fate]] = []
    for mutant in chosen:
        known = mutant.name in EQUIVALENT
        fate = Fate.EQUIVALENT if known else fate_of(mutant, lambda mutant=mutant: nearest_tests_pass(mutant.path))
        note(f"{fate.value:10} {mutant.name}")
        fates.append((mutant, fate))
    return Report(tuple(fates))


def fate_of(mutant: Mutant | None, check: Check, seconds: int = SECONDS) -> Fate:
    """Whether `check` fails where the function has the mistake (None: no mistake). What takes too long, or too much
    memory, has failed."""
    child = os.fork()
    if child == 0:
        _run(mutant, check, seconds)
    _, status = os.waitpid(child, 0)
    return Fate.SURVIVED if status == 0 else Fate.KILLED


def _run(mutant: Mutant | None, check: Check, seconds: int) -> None:
    passed = False
    try:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))  # and not of the wall clock: others work here too
        if mutant is not None:
            plant(mutant)
        passed = check()
    finally:
        os._exit(0 if passed else 1)


def plant(mutant: Mutant) -> None:
    """Give the function its mistake, in this process, and so those that it has made by now: what a decorator gives
    was made when modules were loaded."""
    function, code = _function(mutant), mutant.code()
    inner = {_place(each): each for each in _inner(code)}
    made = set(_inner(function.__code__))
    function.__code__ = code
    for each in gc.get_objects() if made else ():
        if isinstance(each, FunctionType) and each.__code__ in made:
            each.__code__ = inner[_place(each.__code__)]


def _inner(code: CodeType) -> list[CodeType]:
    """The codes of the functions inside another's."""
    inside = [each for each in code.co_consts if isinstance(each, CodeType)]
    return [found for each in inside for found in (each, *_inner(each))]


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _function(mutant: Mutant) -> FunctionType:
    owner: Any = importlib.import_module(module_of(mutant.path))
    *classes, name = mutant.function.split(".")
    for each in classes:
        owner = getattr(owner, each)
    return _undecorated(getattr_static(owner, name))


def _undecorated(value: Any) -> FunctionType:
    while not isinstance(value, FunctionType) or hasattr(value, "__wrapped__"):
        match value:
            case property():
                value = value.fget
            case cached_property():
                value = value.func
            case classmethod() | staticmethod():
                value = value.__func__
            case _:
                value = value.__wrapped__
    return value


def folder_of(path: Path) -> str:
    return next(folder for folder, source in SOURCES.items() if path.is_relative_to(source))


def module_of(path: Path) -> str:
    """The name by which a file is imported."""
    inside = path.relative_to(ROOT / "src") if path.is_relative_to(ROOT / "src") else path.relative_to(ROOT)
    return ".".join(inside.with_suffix("").parts)


def load() -> None:
    """Import what all tests import."""
    sys.path.insert(0, str(ROOT))
    for name in ("pytest", "hypothesis", "relay", "tests.conftest", *map(module_of, modules(FOLDERS))):
        importlib.import_module(name)


def nearest_tests_pass(path: Path) -> bool:
    """Whether the tests of a module's folder pass, and its own examples; those that only show that time and depth cost
    no more than they must are left out."""
    import pytest

    slow = "not (long or linear or deep or exponential or depth)"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they and assertions explain failures, which nobody reads
    own, (elsewhere, which) = ROOT / "tests" / folder_of(path), ELSEWHERE.get(folder_of(path), ("", ""))
    options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", f"--rootdir={ROOT}", "-k"]
    near = pytest.main([*options, slow, str(path), *([str(own)] if own.exists() else [])])
    if near not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):  # a file without examples
        return False
    return not elsewhere or pytest.main([*options, which, str(ROOT / elsewhere)]) == 0
