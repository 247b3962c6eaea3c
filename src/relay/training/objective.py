"""What a training minimizes, as a function: a model, the loss of what it gives, and metrics.

def @model(%w, %x) { … }                                               the model, once its @main
def @loss(%w, %x, %labels) { let %outputs = @model(%w, %x); (loss, metrics) }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen, mutable
from relay.base.names.fresh_names import FreshNames
from relay.base.names.near_names import near_names
from relay.infer.infer_type import infer_type, infer_type_expr
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Tuple, Var
from relay.ir.known_types import known_type, typed_var
from relay.ir.module import IRModule
from relay.ir.rewriting import renamed_functions
from relay.ir.types import FuncType, TensorType, TupleType, Type
from relay.ops.framework.build import Argument, TupleWrapper, as_expr
from relay.transform.algorithms.to_mixed_precision import ToMixedPrecision
from relay.transform.functions.inline_small_functions import lone_calls_in_place
from relay.transform.functions.normal_forms import ToGraphNormalForm
from relay.transform.simplify.simplify_inference import SimplifyInference

Measure: TypeAlias = Callable[..., Expr]
"""The results of a model and the labels → a tensor: a loss, or a metric."""

MAIN = GlobalVar("main")


@frozen(eq=False)
class Objective:
    """A model, the loss of what it gives and of `labels`, and metrics of both by name. `trained` are the names of
    parameters, tensors of floats; `buffers` those of parameters whose new values are the last results of the model,
    which neither loss nor metrics see. Without a `loss` the model gives it."""

    model: IRModule
    trained: Sequence[str]
    buffers: Sequence[str]
    loss: Measure | None
    labels: Sequence[Var]
    metrics: Mapping[str, Measure]


@mutable
class LossFunction:
    """The module with the function of an objective, called `name`, and its parameters by name: those of the model, then
    the labels. It gives a tuple: the loss, then new values of the buffers and the metrics, through which no gradient
    goes. Products are computed in `precision`.

    Raises `RelayError`: `bad-loss`, `bad-measure`, `unknown-parameter`, `parameter-type`, `name-taken`.
    """

    objective: Objective
    precision: str = "float32"
    name: GlobalVar = field(init=False)
    module: IRModule = field(init=False)
    by_name: dict[str, Var] = field(init=False)

    def __post_init__(self) -> None:
        typed = infer_type(self.objective.model)
        names = FreshNames(typed.__contains__)
        model, self.name = GlobalVar(names.take("model")), GlobalVar(names.take("loss"))
        module = IRModule(renamed_functions(typed.functions, {MAIN: model}), typed.type_definitions)
        params = tuple(typed_var(each.name_hint, known_type(each)) for each in typed[MAIN].params)
        self.by_name = by_name((*params, *self.objective.labels))
        self._check_trained()
        type_ = known_type(typed[MAIN])
        assert isinstance(type_, FuncType)
        outputs = typed_var("outputs", type_.ret_type)
        body = Let(outputs, Call(model, params), Tuple(tuple(self._measured(outputs))))
        self.module = infer_type(module.with_function(self.name, Function(tuple(self.by_name.values()), body)))
        if self.precision != "float32":
            for each in (lone_calls_in_place, ToGraphNormalForm, SimplifyInference, ToMixedPrecision(self.precision)):
                self.module = each(self.module)

    def _check_trained(self) -> None:
        for name in self.objective.trained:
            if name not in self.by_name:
                raise RelayError(
                    rule="unknown-parameter", message=f"@main has no parameter %{name} that could be trained",
                    expected="one of " + ", ".join(f"%{each}" for each in self.by_name),
                    remedy=near_names(name, list(self.by_name)),
                )  # fmt: skip
            type_ = self.by_name[name].checked_type
            if not (isinstance(type_, TensorType) and type_.dtype.is_float and type_.element_count is not None):
                raise RelayError(
                    rule="parameter-type", message=f"%{name} cannot be trained",
                    expected="a tensor of floats whose extents are numbers", found=str(type_),
                )  # fmt: skip

    def _measured(self, outputs: Var) -> list[Expr]:
        value, buffers = _split(outputs, len(self.objective.buffers))
        given, labels = self.objective, self.objective.labels
        loss = with_type(value if given.loss is None else given.loss(value, *labels))
        found = loss.checked_type
        if not (isinstance(found, TensorType) and not found.shape and found.dtype.is_float):
            raise RelayError(
                rule="bad-loss", message="a loss is one number", expected="a float scalar", found=str(found),
                remedy="give what the model and its labels make a number: loss=relay.training.CrossEntropy()",
                span=loss.span,
            )  # fmt: skip
        metrics = {name: with_type(metric(value, *labels)) for name, metric in given.metrics.items()}
        for name, metric in metrics.items():
            tensor_type_of(metric, f"the metric `{name}`")
        return [loss, *(op.stop_gradient(each) for each in (*buffers, *metrics.values()))]

    @property
    def types(self) -> tuple[TensorType, ...]:
        """The types of what it gives."""
        type_ = known_type(self.module[self.name])
        assert isinstance(type_, FuncType)
        assert isinstance(type_.ret_type, TupleType)
        return tuple(_tensor(each) for each in type_.ret_type.fields)

    def cotangent(self, weight: Expr) -> Expr:
        """What the results count for in the gradients: the loss so much, the others nothing."""
        others = self.types[1:]
        return Tuple((weight, *(op.zeros(t.shape, t.dtype) if t.dtype.is_float else Tuple(()) for t in others)))


def _split(outputs: Var, buffers: int) -> tuple[Any, Sequence[Expr]]:
    """What a loss sees of the results of a model, and the last `buffers` of them."""
    type_ = known_type(outputs)
    if not isinstance(type_, TupleType):
        return outputs, []
    fields = TupleWrapper(outputs, len(type_.fields))
    seen = len(fields) - buffers
    if not buffers:
        return fields, []
    shown = tuple(fields)[:seen]
    return shown[0] if seen == 1 else TupleWrapper(as_expr(shown), seen), list(fields)[seen:]


def _tensor(type_: Type) -> TensorType:
    assert isinstance(type_, TensorType)
    return type_


def by_name(variables: Sequence[Var]) -> dict[str, Var]:
    found: dict[str, Var] = {}
    for each in variables:
        if each.name_hint in found:
            raise RelayError(
                rule="name-taken", message=f"two inputs of a step are called %{each.name_hint}", span=each.span,
                remedy="give the inputs of the model and the labels names of their own",
            )  # fmt: skip
        found[each.name_hint] = each
    return found


def with_type(value: Argument) -> Expr:
    """What a function over expressions gave, typed: calls of functions of the user's have no type yet."""
    expr = as_expr(value)
    return expr if expr.checked_type is not None else infer_type_expr(expr)


def tensor_type_of(expr: Expr, what: str) -> TensorType:
    """Raises `RelayError` (rule `bad-measure`) for an expression that is no tensor of a known type."""
    if not isinstance(expr.checked_type, TensorType):
        raise RelayError(
            rule="bad-measure", message=f"{what} is no tensor of a known type", found=str(expr.checked_type),
            expected="a tensor", span=expr.span,
        )  # fmt: skip
    return expr.checked_type
