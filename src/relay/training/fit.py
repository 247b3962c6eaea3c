"""A training from its first step to its last: epochs, measuring, checkpoints, and what people see meanwhile."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import asdict, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, Union, cast

from relay.base.arguments import PATH, WHOLE_NUMBER, takes
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen, mutable
from relay.training.checkpoints import load_checkpoint, save_checkpoint
from relay.training.curves import draw_curves
from relay.training.journal import Journal
from relay.training.progress_bar import Report, progress_bar
from relay.training.state import TrainingState
from relay.training.step import StepResult, TrainingStep

Batch: TypeAlias = Any
"""Arrays: a tuple or list of them by place, a mapping by name, or one alone."""
Data: TypeAlias = Union[Iterable[Batch], Callable[[int], Iterable[Batch]]]
"""Batches of an epoch: what can be iterated again and again, a DataLoader of PyTorch among them, or a function of the
number of the epoch."""


@frozen
class EarlyStopping:
    """Ends a training when `of` has not become better by more than `least` for `patience` epochs: a number of the
    measured data if there are such, else of the epoch. Less is better, but for `larger` ones."""

    patience: int
    of: str = "loss"
    least: float = 0.0
    larger: bool = False

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise RelayError(
                rule="bad-stopping", message="patience counts epochs", expected="1 or more", found=str(self.patience)
            )


@frozen(eq=False)
class Training:
    """How a training ended: its state, and what was noted of each step and epoch. `stopped_early`: before all epochs
    were made."""

    state: TrainingState
    records: tuple[Mapping[str, Any], ...]
    stopped_early: bool

    @takes(path=PATH)
    def draw(self, path: str | PathLike[str]) -> None:
        """Draw the numbers in the records (`draw_curves`)."""
        draw_curves(self.records, path)


@mutable(eq=True)
class _Mean:
    """Means of numbers by name, weighted by rows."""

    rows: int = 0
    sums: dict[str, float] = field(default_factory=dict)

    def add(self, numbers: Mapping[str, float], rows: int) -> None:
        self.rows += rows
        for name, value in numbers.items():
            self.sums[name] = self.sums.get(name, 0.0) + value * rows

    def values(self) -> dict[str, float]:
        return {name: total / max(1, self.rows) for name, total in self.sums.items()}


@mutable(eq=True)
class _Position:
    """How far a training is: what a checkpoint notes beside the state. `batch` counts those of the epoch, `mean` is of
    them; `records` is how many the journal has."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    records: int = 0
    best: float | None = None
    waited: int = 0
    mean: _Mean = field(default_factory=_Mean)

    @staticmethod
    def noted(notes: Mapping[str, Any]) -> _Position:
        at = _Position(**notes)
        at.mean = _Mean(**notes["mean"])
        return at


@takes(epochs=WHOLE_NUMBER, seed=WHOLE_NUMBER, checkpoint=PATH, save_every=WHOLE_NUMBER, journal=PATH, curves=PATH)
def fit(
    step: TrainingStep,
    data: Data,
    epochs: int,
    *,
    state: TrainingState | None = None,
    seed: int = 0,
    measured_on: Data | None = None,
    stopping: EarlyStopping | None = None,
    checkpoint: str | PathLike[str] | None = None,
    save_every: int | None = None,
    journal: str | PathLike[str] | None = None,
    curves: str | PathLike[str] | None = None,
    quiet: bool = False,
) -> Training:
    """Train for so many epochs: a step for each batch of `data`, then the loss and metrics of `measured_on`.

    `checkpoint` names a file that the state goes to after each epoch, and after each `save_every` steps. Where there is
    such a file the training goes on from it, behind the last batch that it counts, to the same bits as if it had never
    been stopped, provided that an epoch of `data` is the same batches again. `journal` gets a line of JSON for each
    step and epoch, `curves` a picture of them at the end. On a terminal a bar tells how far it is, unless `quiet`.

    Raises `RelayError`: `no-batches` for an epoch without any; what steps raise (`not-finite` leaves state and
    checkpoint as they were); what files raise.

    >>> import numpy as np, relay
    >>> x, w = relay.var("x", shape=("n", 3)), relay.var("w", shape=(1, 3))
    >>> model = relay.Function([x, w], relay.nn.dense(x, w)), {"w": np.zeros((1, 3), np.float32)}
    >>> step = relay.training.compile_step(model, relay.training.SGD(0.5), relay.training.MeanSquaredError())
    >>> batch = np.eye(3, dtype=np.float32), np.ones((3, 1), np.float32)
    >>> trained = fit(step, [batch], epochs=20, quiet=True)
    >>> round(float(trained.state.params["w"].mean()), 2)
    1.0
    """
    place = None if checkpoint is None else Path(checkpoint)
    position = _Position()
    if place is not None and place.exists():
        held = load_checkpoint(place)
        state, position = step.restore(held), _Position.noted(held.notes)
    elif state is None:
        state = step.init(seed=seed)
    written = Journal(None if journal is None else Path(journal), position.records)
    with progress_bar(quiet) as report:
        run = _Run(step, state, position, written, place, save_every, report)
        stopped = run.epochs(data, epochs, measured_on, stopping)
    trained = Training(state, tuple(written.records), stopped)
    if curves is not None:
        trained.draw(curves)
    return trained


@mutable(eq=True)
class _Run:
    step: TrainingStep
    state: TrainingState
    position: _Position
    journal: Journal
    checkpoint: Path | None
    save_every: int | None
    report: Report

    def epochs(self, data: Data, epochs: int, measured_on: Data | None, stopping: EarlyStopping | None) -> bool:
        """All epochs that are left; whether the last of them was not reached."""
        at = self.position
        while at.epoch < epochs:
            if stopping is not None and at.waited >= stopping.patience:
                return True
            self._steps(data, epochs)
            record = at.mean.values()
            measured = {} if measured_on is None else self._measured(measured_on)
            record |= {f"measured {name}": value for name, value in measured.items()}
            if stopping is not None:
                self._wait(stopping, measured or record)
            self._note({"step": at.step, "epoch": at.epoch, **record})
            at.epoch, at.batch, at.mean = at.epoch + 1, 0, _Mean()
            self._save()
        return False

    def _steps(self, data: Data, epochs: int) -> None:
        at = self.position
        count = len(cast("Sized", data)) if hasattr(data, "__len__") else None
        number = -1
        for number, batch in enumerate(_epoch(data, at.epoch)):
            if number < at.batch:
                continue  # before the checkpoint
            before = time.perf_counter()
            result = _called(self.step, self.state, batch)
            seconds = time.perf_counter() - before
            numbers = _numbers(result)
            at.batch, at.step = number + 1, at.step + 1
            at.mean.add(numbers, _rows(batch))
            self._note({"step": at.step, "update": self.state.count, **numbers, "seconds": seconds})
            self.report(f"epoch {at.epoch + 1} of {epochs}, loss {numbers['loss']:.4g}", number + 1, count)
            if self.save_every is not None and at.step % self.save_every == 0:
                self._save()
        if number < 0:
            raise RelayError(
                rule="no-batches", message=f"epoch {at.epoch + 1} has no batches", expected="at least one",
                found=f"a {type(data).__name__}", remedy="give what can be iterated again, or a function of the epoch",
            )  # fmt: skip

    def _measured(self, data: Data) -> dict[str, float]:
        mean = _Mean()
        for batch in _epoch(data, self.position.epoch):
            mean.add(_numbers(_called(self.step.measure, self.state, batch)), _rows(batch))
        return mean.values()

    def _wait(self, stopping: EarlyStopping, numbers: Mapping[str, float]) -> None:
        if stopping.of not in numbers:
            raise RelayError(
                rule="bad-stopping", message=f"`{stopping.of}` is not measured", expected=", ".join(numbers),
                found=stopping.of,
            )  # fmt: skip
        at, value = self.position, numbers[stopping.of]
        gain = math.inf if at.best is None else (value - at.best) * (1 if stopping.larger else -1)
        if gain > stopping.least:
            at.best, at.waited = value, 0
        else:
            at.waited += 1

    def _note(self, record: Mapping[str, Any]) -> None:
        self.journal.add(record)
        self.position.records += 1

    def _save(self) -> None:
        if self.checkpoint is not None:
            save_checkpoint(self.checkpoint, self.state, asdict(self.position))


def _epoch(data: Data, number: int) -> Iterable[Batch]:
    return data(number) if callable(data) else data


def _called(function: Callable[..., StepResult], state: TrainingState, batch: Batch) -> StepResult:
    if isinstance(batch, Mapping):
        return function(state, **cast("Mapping[str, Any]", batch))
    if isinstance(batch, tuple | list):
        return function(state, *cast("Sequence[Any]", batch))
    return function(state, batch)


def _rows(batch: Batch) -> int:
    """The extent of the first axis of the first array; 1 where that has none."""
    values = cast("Mapping[str, Any]", batch).values() if isinstance(batch, Mapping) else batch
    first: Any = next(iter(values)) if isinstance(batch, Mapping | tuple | list) else values
    return int(first.shape[0]) if getattr(first, "shape", ()) else 1


def _numbers(result: StepResult) -> dict[str, float]:
    """The loss and those metrics that are numbers."""
    metrics = {name: float(each) for name, each in result.metrics.items() if not each.shape}
    return {"loss": float(result.loss), **metrics}
