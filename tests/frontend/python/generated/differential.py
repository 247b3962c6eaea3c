"""One Python function, run by Python, by the reference interpreter on what was read of it, and natively."""

from __future__ import annotations

import hashlib
import linecache
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import relay
from relay.base.diagnostics import RelayError
from relay.interpret.evaluate import evaluate
from relay.ir.module import IRModule
from relay.runtime.values.values import DataValue
from tests.frontend.python.generated.functions import HEADER, PythonProgram
from tests.frontend.python.generated.reference import NotJudged, Raised, expected
from tests.frontend.python.running import kind

STEP_LIMIT = 200_000
RELATIVE, ABSOLUTE = 2e-4, 2e-4  # float32 against Python's float64, through a few operators


class Difference(AssertionError):
    """Python and the program differ."""


@dataclass(slots=True)
class Tally:
    """What became of the programs."""

    agreed: int = 0
    native: int = 0
    raised: int = 0
    not_judged: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def judged(self) -> int:
        return self.agreed + sum(self.refused.values())

    def __str__(self) -> str:
        refused = sum(self.refused.values())
        reasons = "; ".join(f"{count} {reason}" for reason, count in self.refused.most_common(8)) or "none"
        share = f"{100 * refused / max(1, self.judged):.1f} %"
        return (
            f"{self.agreed} functions agree with Python ({self.raised} raise, {self.native} were compiled too), "
            f"{refused} of {self.judged} are refused ({share}): {reasons}; "
            f"{self.not_judged} left the range of int32 or hung on the rounding of floats"
        )


def check(program: PythonProgram, folder: Path, tally: Tally, native: bool) -> None:
    """Run a program. Raises `Difference`, after writing its file into the folder."""
    try:
        compare(program, tally, native)
    except Exception as error:
        place = _kept(program, folder, error)
        raise Difference(f"{type(error).__name__}: {error}\nkept in {place}") from error


def compare(program: PythonProgram, tally: Tally, native: bool) -> None:
    try:
        wanted = expected(program.text, program.arguments)
    except NotJudged:
        tally.not_judged += 1
        return
    try:
        defined = read(program.text)
        module: IRModule = defined.module
    except RelayError as error:
        if error.span is None:
            raise Difference(f"a refusal without a place: {error}") from error
        if isinstance(wanted, Raised) and error.rule in ("python-error", "bad-index"):
            tally.raised += 1  # what raises whenever it runs is told before it runs
            tally.agreed += 1
        else:
            tally.refused[f"{error.rule}: {error.message}"] += 1
        return
    arguments = [_as_relay(each) for each in program.arguments]
    _compare(wanted, lambda: evaluate(module, arguments, step_limit=STEP_LIMIT), "the interpreter")
    if native:
        _compare(wanted, lambda: defined(*arguments), "native code")
        tally.native += 1
    tally.raised += isinstance(wanted, Raised)
    tally.agreed += 1


def read(text: str) -> Any:
    """The decorated function of a program; its source is known under a name of its own."""
    name = f"<generated {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"__name__": "generated"}
    exec(compile(text, name, "exec"), names)
    return relay.function(names["f"])


def _compare(wanted: Any, run: Any, who: str) -> None:
    try:
        found = run()
    except RelayError as error:
        if error.rule == "step-limit" or not isinstance(wanted, Raised):
            raise Difference(f"{who} raises {error}\nPython gives {wanted!r}") from error
        return
    if isinstance(wanted, Raised):
        raise Difference(f"{who} gives {found!r}\nPython raises {wanted!r}")
    same(found, wanted, who)


def same(found: Any, wanted: Any, who: str, path: str = "result") -> None:
    """Whether a value of the program is the one of Python: of the same kind and shape, and close."""
    if isinstance(wanted, tuple | list):
        if isinstance(found, DataValue) and isinstance(wanted, list):
            found = tuple(found)
        if not isinstance(found, tuple | list) or len(found) != len(wanted):
            raise Difference(f"{path}: {who} gives {found!r}, Python {wanted!r}")
        for position, (left, right) in enumerate(zip(found, wanted, strict=True)):
            same(left, right, who, f"{path}[{position}]")
        return
    left, right = np.asarray(found), np.asarray(wanted)
    if kind(left) != kind(right) or left.shape != right.shape:
        raise Difference(f"{path}: {who} gives {found!r} ({kind(left)}), Python {wanted!r} ({kind(right)})")
    if not np.allclose(left.astype(np.float64), right.astype(np.float64), RELATIVE, ABSOLUTE, equal_nan=True):
        raise Difference(f"{path}: {who} gives {found!r}, Python {wanted!r}")


def _as_relay(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_relay(each) for each in value]
    if isinstance(value, bool):
        return np.bool_(value)
    return np.int32(value) if isinstance(value, int) else np.float32(value) if isinstance(value, float) else value


def _kept(program: PythonProgram, folder: Path, error: Exception) -> Path:
    """A file that shows the difference again."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"python_{hashlib.sha256(repr(program).encode()).hexdigest()[:12]}.py"
    array, float32, int32 = "array", "float32", "int32"
    numbers = f"from numpy import {array}, {float32}, {int32}\n"
    said = "\n".join(f"# {line}" for line in f"{type(error).__name__}: {error}".splitlines())
    call = f"\n\narguments = {program.arguments!r}\nprint(f(*arguments))\nprint(relay.function(f)(*arguments))\n"
    place.write_text(f"{said}\n{numbers}{HEADER}{program.text.removeprefix(HEADER)}{call}")
    return place
