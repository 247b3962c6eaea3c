"""A step of training as one native call: loss, gradients and update, parameters and state in their places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.dtypes import dtype_of
from relay.base.frozen import frozen
from relay.driver.parameters import param_array
from relay.driver.program import checked_params
from relay.interpret.evaluate import evaluate
from relay.ir.known_types import typed_var
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.ops.creation.threefry import key_of
from relay.runtime.executable import Executable
from relay.training.checkpoints import Checkpoint
from relay.training.nonfinite import nonfinite_error
from relay.training.program import KEY, SCALE, StepOptions, StepProgram
from relay.training.state import Arrays, TrainingState, arrays_in

Compile: TypeAlias = Callable[[IRModule, tuple[str, ...]], Executable]
"""From a program, and the names of inputs that are given away, to native code."""


@frozen
class StepResult:
    """What a step tells: the loss and the metrics of its batch, before the update. `updated`: whether the batch counts,
    for an update or for one to come."""

    loss: NDArray[np.generic]
    metrics: Mapping[str, NDArray[np.generic]]
    updated: bool = True


class TrainingStep:
    """A compiled step: `step(state, *batch)` makes an update of a state, in the memory of its arrays;
    `step.measure(state, *batch)` tells loss and metrics alone."""

    def __init__(self, program: StepProgram, options: StepOptions, params: Arrays, compiled: Compile) -> None:
        self.program = program
        self.options = options
        self._first_params = params
        self._compiled = compiled
        self.executable = self._in_place(
            program.update, (*program.params, *program.state, *program.progress, *program.sums)
        )

    @cached_property
    def _accumulating(self) -> Executable:
        key = (KEY,) if self.options.key else ()
        return self._in_place(self.program.accumulate, (*self.program.buffers, *key, *self.program.sums))

    def _in_place(self, module: IRModule, names: tuple[str, ...]) -> Executable:
        """A program whose first results are in the memory of these inputs."""
        executable = self._compiled(module, names)
        inputs = [each.name for each in executable.inputs]
        found = {inputs[each.input]: each.output for each in executable.entry.donations}
        if found != {name: at for at, name in enumerate(names)}:
            raise CompilerBug("training", f"results are not in the memory of the inputs that they replace: {found}")
        return executable

    @cached_property
    def _measuring(self) -> Executable:
        return self._compiled(self.program.measure, ())

    def init(self, params: Mapping[str, Any] | None = None, *, seed: int = 0, copy: bool = True) -> TrainingState:
        """The state before the first step: the parameters that the step was compiled with, or others of the same types
        by name. They are copied; without `copy` the state is made of the very arrays, and steps write over them. `seed`
        is that of the model's random key.

        Raises `RelayError`: `unknown-parameter`, `missing-parameter`, `parameter-type`, `same-array-twice`.
        """
        given = self._first_params if params is None else self._checked(params)
        check_apart(given)
        own = _copies(given) if copy else given
        first = cast("tuple[NDArray[np.generic], ...]", evaluate(self.program.first_state, arrays_in(own)))
        state = _copies(dict(zip(self.program.state, first, strict=True)))
        progress = _zeros(self.program.progress)
        if self.options.key:
            progress[KEY][:] = key_of(seed)
        if self.options.loss_scale is not None:
            progress[SCALE][()] = self.options.loss_scale.first
        return TrainingState(own, state, progress, _zeros(self.program.sums))

    def restore(self, checkpoint: Checkpoint) -> TrainingState:
        """The state that a checkpoint holds, in arrays of its own. Raises `RelayError` (rule `bad-checkpoint`) for that
        of another step."""
        program = self.program
        return TrainingState(
            _held(program.params, checkpoint.params), _held(program.state, checkpoint.optimizer),
            _held(program.progress, checkpoint.progress), _held(program.sums, checkpoint.sums), checkpoint.pending,
        )  # fmt: skip

    def _checked(self, params: Mapping[str, Any]) -> dict[str, NDArray[np.generic]]:
        given, types = checked_params(params), self.program.params
        unknown, missing = [each for each in given if each not in types], [each for each in types if each not in given]
        if unknown or missing:
            raise RelayError(
                rule="unknown-parameter" if unknown else "missing-parameter",
                message=f"the step trains no parameter `{unknown[0]}`" if unknown else f"`{missing[0]}` is not given",
                expected=", ".join(types), found=", ".join(given),
            )  # fmt: skip
        return {name: param_array(typed_var(name, type_), given[name]) for name, type_ in types.items()}

    def __call__(self, state: TrainingState, *batch: Any, **named: Any) -> StepResult:
        """One update of `state` by a batch: inputs of the model, then labels, by place or name; arrays, or what speaks
        DLPack, which is not copied. Where gradients are accumulated, the last of so many batches makes the update.

        Raises `RelayError`: `state-lost`; `not-finite`, where that is checked; what a call of an executable raises.
        These two, if the call is refused before it runs, leave the state as it was. Any other error, Ctrl-C and a time
        limit among them, loses it.
        """
        pending = state.pending + 1
        if pending < self.options.accumulated:
            groups = (state.params, _only(state.progress, SCALE, KEY), state.sums)
            kept = (_only(state.params, *self.program.buffers), _only(state.progress, KEY), state.sums)
            return self._run(self._accumulating, state, groups, len(arrays_in(*kept)), pending, (batch, named))
        groups = (state.params, state.optimizer, state.progress, state.sums)
        return self._run(self.executable, state, groups, len(arrays_in(*groups)), 0, (batch, named))

    def _run(
        self, executable: Executable, state: TrainingState, groups: Sequence[Arrays], kept: int, pending: int,
        given: tuple[tuple[Any, ...], dict[str, Any]],
    ) -> StepResult:  # fmt: skip
        """Run a program that writes over arrays of the state, `kept` of them, which are its first results."""
        arrays, before = arrays_in(*groups), state.pending
        batch, named = given
        state.begin()
        try:
            results = cast("tuple[Any, ...]", executable(*arrays, *batch, **named))
        except BaseException as error:
            if isinstance(error, RelayError) and _refuses(executable, (*arrays, *batch), named):
                state.end(before)
            else:
                state.fail(error)
            raise
        made, loss, *metrics = results[kept:]
        updated = bool(made)
        state.end(pending if updated or not self.options.checks_finite else before)
        if self.options.checks_finite and not updated:
            self._raise_not_finite(state, batch, named)
        return StepResult(loss, dict(zip(self.program.metrics, metrics, strict=True)), updated)

    def _raise_not_finite(self, state: TrainingState, batch: tuple[Any, ...], named: dict[str, Any]) -> None:
        groups = (state.params, state.optimizer, state.progress, state.sums)
        inputs = {**dict(zip(self.program.inputs, batch, strict=False)), **named}
        arguments: dict[str, Any] = {name: each for group in groups for name, each in group.items()}
        arguments |= {name: inputs[name] for name in self.program.inputs}
        raise nonfinite_error(self.program.update, arguments, state.count)

    def measure(self, state: TrainingState, *batch: Any, **named: Any) -> StepResult:
        """The loss and the metrics of a batch; the state stays as it is. Compiled when it is first called.

        Raises `RelayError`: `state-lost`, and what a call of an executable raises.
        """
        arrays = arrays_in(state.params, _only(state.progress, KEY))
        loss, *metrics = cast("tuple[Any, ...]", self._measuring(*arrays, *batch, **named))
        return StepResult(loss, dict(zip(self.program.metrics, metrics, strict=True)), updated=False)

    def __repr__(self) -> str:
        return f"<training step: {', '.join(self.program.params)}; takes {', '.join(self.program.inputs)}>"


def _refuses(executable: Executable, positional: Sequence[Any], named: dict[str, Any]) -> bool:
    """Whether a call with these ends before anything runs."""
    try:
        executable["main"].check(positional, {name: each for name, each in named.items() if name != "timeout"})
    except RelayError:
        return True
    return False


def _only(arrays: Arrays, *names: str) -> dict[str, NDArray[np.generic]]:
    return {name: arrays[name] for name in names if name in arrays}


def _copies(arrays: Arrays) -> dict[str, NDArray[np.generic]]:
    return {name: np.array(each, order="C") for name, each in arrays.items()}


def _held(types: Mapping[str, TensorType], arrays: Arrays) -> dict[str, NDArray[np.generic]]:
    """Copies of arrays in the order of their types, which they have."""
    found = {name: TensorType(each.shape, dtype_of(each.dtype)) for name, each in arrays.items()}
    if found != dict(types):
        other = next(name for name in (*types, *found) if types.get(name) != found.get(name))
        raise RelayError(
            rule="bad-checkpoint", message="the checkpoint is that of another step",
            expected=f"`{other}`: {types.get(other, 'none')}", found=f"`{other}`: {found.get(other, 'none')}",
            remedy="compile the step with the model, optimizer and options that it had",
        )  # fmt: skip
    return _copies({name: arrays[name] for name in types})


def _zeros(types: Mapping[str, TensorType]) -> dict[str, NDArray[Any]]:
    return {
        name: np.zeros(cast("tuple[int, ...]", type_.shape), type_.dtype.numpy) for name, type_ in types.items()
    }  # fmt: skip


def check_apart(params: Arrays) -> None:
    """Raises `RelayError` (rule `same-array-twice`) where two parameters share memory."""
    for (name, array), (other, second) in combinations(params.items(), 2):
        if np.may_share_memory(array, second) and np.shares_memory(array, second):
            raise RelayError(
                rule="same-array-twice", message=f"the parameters `{name}` and `{other}` share memory",
                expected="arrays of their own, each of which is updated once",
                remedy=f"tie them, if they are one: tied={{{other!r}: {name!r}}}; else give a copy",
            )  # fmt: skip
