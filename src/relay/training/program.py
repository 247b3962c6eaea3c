"""A training step as a program: the loss of a model, its gradients, and what an optimizer makes of them.

    def @main(%w, %w.momentum, %step.count, %x, %labels) {                 parameters, state, progress, batch
      let %found = vjp(@loss, wrt=[0])(%w, %x, %labels, (1f, …));
      let %w.gradient = %found.1.0;
      …; (new %w, new %w.momentum, %step.count + 1, loss, metrics)
    }

Results stand in the order of the inputs that they replace, so that each can be in its memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import reduce

from relay import op, random
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen, mutable
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Expr, Function, Tuple, TupleGetItem, Var, const
from relay.ir.known_types import known_tensor_type, known_type, typed_var
from relay.ir.module import IRModule
from relay.ir.rewriting import with_lets
from relay.ir.types import TensorType
from relay.ops.transformations import VJP, called
from relay.training.objective import MAIN, LossFunction, by_name, tensor_type_of, with_type
from relay.training.optimizers import Optimizer, Tree
from relay.training.scaling import LossScale

COUNT, KEY, SCALE, GOOD = "step.count", "step.key", "step.loss_scale", "step.good_updates"
_PROGRESS: Mapping[str, TensorType] = {
    COUNT: TensorType((), DType.INT64),
    KEY: TensorType((10,), DType.UINT64),
    SCALE: TensorType((), DType.FLOAT32),
    GOOD: TensorType((), DType.INT64),
}


@frozen
class StepOptions:
    """`key`: the input of the model that is a random key; each step draws one of its own. `accumulated`: of how many
    batches an update takes the mean gradient. `checks_finite`: a step whose loss or gradients are not finite changes
    nothing; with a `loss_scale` it changes the scale alone."""

    key: str = ""
    accumulated: int = 1
    checks_finite: bool = False
    loss_scale: LossScale | None = None

    @property
    def guarded(self) -> bool:
        return self.checks_finite or self.loss_scale is not None

    @property
    def progress(self) -> tuple[str, ...]:
        """What a state keeps beside parameters and the optimizer's tensors."""
        scale = (SCALE, GOOD) if self.loss_scale is not None else ()
        return (COUNT, *((KEY,) if self.key else ()), *scale)


@frozen(eq=False)
class StepProgram:
    """Programs over the tensors of `params`, the last of which are the `buffers`, of `state` (the optimizer's), of
    `progress` and, where gradients are accumulated, of `sums` of gradients.

    `update` takes all of them and `inputs`; it gives them as they are after the update, then whether it was made, the
    loss, and each of `metrics`. `accumulate` takes params, loss scale, key (if there are such), sums and inputs, and
    gives buffers, key, sums, whether they changed, loss and metrics. `measure` takes params, key and inputs, and gives
    loss and metrics. `first_state` takes params and gives a state."""

    params: Mapping[str, TensorType]
    buffers: tuple[str, ...]
    state: Mapping[str, TensorType]
    progress: Mapping[str, TensorType]
    sums: Mapping[str, TensorType]
    inputs: tuple[str, ...]
    metrics: tuple[str, ...]
    update: IRModule
    accumulate: IRModule
    measure: IRModule
    first_state: IRModule


def step_program(loss: LossFunction, optimizer: Optimizer, options: StepOptions) -> StepProgram:
    """The programs of a step. Raises `RelayError`: `bad-optimizer`, `name-taken`, `unknown-parameter` for the key, and
    what is wrong with the gradients of the model."""
    step = _Step(loss, optimizer, options)
    objective = loss.objective
    kept = {**step.weights, **step.buffers}
    first_state = Function(tuple(kept.values()), Tuple(tuple(step.first.values())))
    return StepProgram(
        _types(kept), tuple(step.buffers), _types(step.state), _types(step.progress), _types(step.sums),
        tuple(step.batch), tuple(objective.metrics), step.update(), step.accumulate(), step.measure(),
        infer_type(IRModule.from_expr(first_state)),
    )  # fmt: skip


def _types(variables: Mapping[str, Var]) -> dict[str, TensorType]:
    return {name: known_tensor_type(each) for name, each in variables.items()}


@mutable
class _Step:
    """The inputs of a step, by name, and the programs over them."""

    loss: LossFunction
    optimizer: Optimizer
    options: StepOptions
    first: Tree = field(init=False)
    weights: dict[str, Var] = field(init=False)
    buffers: dict[str, Var] = field(init=False)
    state: dict[str, Var] = field(init=False)
    progress: dict[str, Var] = field(init=False)
    sums: dict[str, Var] = field(init=False)
    batch: dict[str, Var] = field(init=False)

    def __post_init__(self) -> None:
        given, trained = self.loss.by_name, self.loss.objective.trained
        if self.options.key and (self.options.key not in given or self.options.key in trained):
            raise RelayError(
                rule="unknown-parameter", message="the random key is no input of the model",
                expected="one of " + ", ".join(f"%{name}" for name in given if name not in trained),
                found=f"%{self.options.key}",
            )  # fmt: skip
        self.weights = {name: typed_var(name, known_type(given[name])) for name in trained}
        self.buffers = {name: typed_var(name, known_type(given[name])) for name in self.loss.objective.buffers}
        kept = {*self.weights, *self.buffers, self.options.key}
        others = [name for name in given if name not in kept]
        self.batch = {name: typed_var(name, known_type(given[name])) for name in others}
        self.first = {name: with_type(each) for name, each in self.optimizer.init(self.weights).items()}
        self.state = {
            name: typed_var(name, tensor_type_of(each, f"the state `{name}` of the optimizer"))
            for name, each in self.first.items()
        }
        self.progress = {name: typed_var(name, _PROGRESS[name]) for name in self.options.progress}
        summed = self.weights if self.options.accumulated > 1 else {}
        self.sums = {sum_name(name): typed_var(sum_name(name), known_type(each)) for name, each in summed.items()}
        kept_inputs = self._all(self.weights, self.buffers, self.state, self.progress, self.sums)
        by_name((*kept_inputs, *self.batch.values()))
        _check_apart([each.name_hint for each in kept_inputs], self.batch.values())

    def update(self) -> IRModule:
        key, gradients, buffers, measured, bindings = self._differentiated()
        count, policy = self.progress[COUNT], self.options.loss_scale
        scale = self.progress.get(SCALE)
        if scale is not None:
            gradients = {n: each / op.cast(scale, known_tensor_type(each).dtype) for n, each in gradients.items()}
        weights, state = self.optimizer.update(self.weights, gradients, self.state, count)
        weights, state = _checked("parameters", self.weights, weights), _checked("state", self.state, state)
        progress: Tree = {COUNT: count + const(1, DType.INT64), **key}
        sums: Tree = {name: op.zeros_like(each) for name, each in self.sums.items()}
        made: Expr = const(True)
        if self.options.guarded:
            made = _all_finite(measured[0], gradients)
            weights, state = _where(made, weights, self.weights), _where(made, state, self.state)
            buffers = _where(made, buffers, self.buffers)
            progress = _where(made, progress, self.progress)
        if policy is not None and scale is not None:
            after, good = policy.after(made, scale, self.progress[GOOD])
            progress = {**progress, SCALE: after, GOOD: good}
        elif self.options.guarded:
            sums = _where(made, sums, self.sums)
        inputs = self._all(self.weights, self.buffers, self.state, self.progress, self.sums, self.batch)
        kept = (
            *(weights[name] for name in self.weights), *buffers.values(), *(state[name] for name in self.state),
            *(progress[name] for name in self.progress), *(sums[name] for name in self.sums),
        )  # fmt: skip
        return self._module(inputs, with_lets(bindings, Tuple((*kept, made, *measured))))

    def accumulate(self) -> IRModule:
        key, gradients, buffers, measured, bindings = self._differentiated()
        sums: Tree = {
            each.name_hint: gradients[name] for name, each in zip(self.weights, self.sums.values(), strict=False)
        }
        made: Expr = const(True)
        if self.options.checks_finite:
            made = _all_finite(measured[0], sums)
            key, sums = _where(made, key, self.progress), _where(made, sums, self.sums)
            buffers = _where(made, buffers, self.buffers)
        inputs = self._all(self.weights, self.buffers, self._only(SCALE, KEY), self.sums, self.batch)
        body = with_lets(bindings, Tuple((*buffers.values(), *key.values(), *sums.values(), made, *measured)))
        return self._module(inputs, body)

    def measure(self) -> IRModule:
        found = Var("found")
        shown = (0, *range(1 + len(self.buffers), len(self.loss.types)))
        results = Tuple(tuple(TupleGetItem(found, at) for at in shown))
        body = with_lets([(found, Call(self.loss.name, self._arguments(self.progress.get(KEY))))], results)
        return self._module(self._all(self.weights, self.buffers, self._only(KEY), self.batch), body)

    def _only(self, *names: str) -> dict[str, Var]:
        """Of the progress, what there is of these."""
        return {name: self.progress[name] for name in names if name in self.progress}

    def _differentiated(self) -> tuple[Tree, Tree, Tree, list[Expr], list[tuple[Var, Expr]]]:
        """The next key, gradients by parameter (sums with what was before, times the loss scale), new buffers, the loss
        and the metrics, and what must be bound around them."""
        bindings: list[tuple[Var, Expr]] = []
        key: dict[str, Expr] = {}
        own: Expr | None = None
        if KEY in self.progress:
            key[KEY], own = random.threefry_split(self.progress[KEY])
        dtype = self.loss.types[0].dtype
        weight: Expr = const(1 / self.options.accumulated, dtype)
        if SCALE in self.progress:
            weight = weight * op.cast(self.progress[SCALE], dtype)
        found = Var("found")
        places = [list(self.loss.by_name).index(name) for name in self.weights]
        differentiated = called(VJP, self.loss.name, places)
        bindings.append((found, Call(differentiated, (*self._arguments(own), self.loss.cotangent(weight)))))
        gradients: dict[str, Expr] = {}
        for at, (name, each) in enumerate(self.weights.items()):
            gradient = typed_var(f"{name}.gradient", known_type(each))
            bindings.append((gradient, TupleGetItem(TupleGetItem(found, 1), at)))
            summed = self.sums.get(sum_name(name))
            gradients[name] = gradient if summed is None else summed + gradient
        results: list[Expr] = []
        for name, type_ in zip(self._result_names(), self.loss.types, strict=True):
            each = typed_var(name, type_)
            bindings.append((each, TupleGetItem(TupleGetItem(found, 0), len(results))))
            results.append(each)
        loss, *others = results
        buffers = dict(zip(self.buffers, others, strict=False))
        return key, gradients, buffers, [loss, *others[len(buffers) :]], bindings

    def _result_names(self) -> tuple[str, ...]:
        return ("loss", *(f"{name}.next" for name in self.buffers), *self.loss.objective.metrics)

    def _arguments(self, key: Expr | None) -> tuple[Expr, ...]:
        """What the function of the loss takes."""
        given: dict[str, Expr] = {**self.weights, **self.buffers, **self.batch}
        if key is not None:
            given[self.options.key] = key
        return tuple(given[name] for name in self.loss.by_name)

    def _module(self, inputs: tuple[Var, ...], body: Expr) -> IRModule:
        return infer_type(self.loss.module.with_function(MAIN, Function(inputs, body)))

    def _all(self, *groups: Mapping[str, Var]) -> tuple[Var, ...]:
        return tuple(each for group in groups for each in group.values())


def _check_apart(kept: Sequence[str], batch: Iterable[Var]) -> None:
    """What is given away by name takes all along that begins so (`w` and `w.0`): no input of a batch may."""
    for each in batch:
        if any(each.name_hint.startswith(f"{name}.") for name in kept):
            raise RelayError(
                rule="name-taken", message=f"the input %{each.name_hint} is called as if it were a part of a parameter",
                span=each.span, remedy="give the inputs of the model and the labels names of their own",
            )  # fmt: skip


def sum_name(name: str) -> str:
    """What the sum of the gradients of a parameter is called."""
    return f"{name}.gradients"


def _all_finite(loss: Expr, gradients: Tree) -> Expr:
    return reduce(op.logical_and, (op.all(op.isfinite(each)) for each in (loss, *gradients.values())))


def _where(condition: Expr, yes: Tree, no: Tree) -> dict[str, Expr]:
    return {name: op.where(condition, each, no[name]) for name, each in yes.items()}


def _checked(what: str, given: Tree, found: Tree) -> Tree:
    """What an update gives, which is what it takes, with the same types."""
    if set(given) != set(found):
        raise RelayError(
            rule="bad-optimizer", message=f"the update of an optimizer gives other {what} than it takes",
            expected=", ".join(given) or "none", found=", ".join(found) or "none",
        )  # fmt: skip
    checked: dict[str, Expr] = {}
    for name, before in given.items():
        after = checked[name] = with_type(found[name])
        if after.checked_type != before.checked_type:
            raise RelayError(
                rule="bad-optimizer", message=f"the update of an optimizer gives `{name}` another type",
                expected=str(before.checked_type), found=str(after.checked_type), span=after.span,
            )  # fmt: skip
    return checked
