"""The full record of an operator: everything the compiler knows about it, in one value.

`ir.operator.Operator` is what reading and typing a program need; `OperatorRecord` adds the reference semantics, the
tensor expression and the facts that passes ask for. A fact that does not exist is a value that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum, IntEnum
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Union

from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.base.span import caller_span
from relay.ir.attributes import Attributes, NoAttributes
from relay.ir.expr import Call, Expr, Op
from relay.ir.operator import Effect, MultiplyAdds, Operator
from relay.ops.framework.batch_rule import BatchRule, ByElement
from relay.ops.framework.layout_rule import Broadcasting, Elementwise, LayoutRule
from relay.ops.framework.relating import TypeRule, relation_of
from relay.ops.framework.scale_role import NoScale, ScaleRole

if TYPE_CHECKING:
    from relay.te.notation.schedule import Schedule


class FusionKind(IntEnum):
    """How an operator's loops meet those of its neighbours, with Relay's numbers (`TOpPattern`)."""

    ELEMWISE = 0  # one result element from the same element of each input
    BROADCAST = 1  # the same, where an input may be repeated along axes
    INJECTIVE = 2  # one result element from one input element, elsewhere
    COMM_REDUCE = 3  # a commutative reduction over axes
    OUT_ELEMWISE_FUSABLE = 4  # heavy; elementwise work may be done on its result in place
    TUPLE = 7  # makes tuples
    OPAQUE = 8  # joins no group


class PrecisionRule(Enum):
    """What automatic mixed precision does with an operator on 32-bit floats. Whatever the type of its inputs, an
    operator computes in 32 bits and rounds once."""

    NARROW = "is worth the casts of its inputs: its time is that of its multiplications or of their operands"
    FOLLOW = "takes narrow inputs where it gets them: casting for its sake would not pay"
    WIDE = "keeps 32 bits: its result leaves the range of narrow types, or loses what matters"


Compute: TypeAlias = Callable[[Any, tuple[Any, ...], Any], Any]
"""`compute(attributes, inputs, result type) -> te.Tensor | tuple`; an input that is a tuple comes as a tuple."""


@frozen
class Update:
    """A call changes a part of its input 0: `compute` writes that part into memory which holds the input, at most one
    element for each of input number `part`."""

    compute: Compute
    part: int


@frozen
class FromTypes:
    """The result's extents follow from the input types alone."""


@frozen
class FromValues:
    """The extents that the result's type leaves open (`?`) depend on the values of inputs.

    `extents` is a tensor expression like `compute`: an int64[k], one entry for each `?` in the order in which they
    stand in the result. What cannot be computed is told in the first entry: `-1 - i` for the reason `failures[i]`.
    """

    extents: Compute
    failures: tuple[str, ...] = ()


Extents: TypeAlias = Union[FromTypes, FromValues]


@frozen
class NoFault:
    """Every call has a value."""


@frozen
class IndexFault:
    """A call has no value where an index lies outside of an axis.

    `fault` is a tensor expression like `compute`: an int64[2], an index and how many entries the axis has that it is
    an index of. It is one that lies outside, if there is such. `what(attributes)` says who was given it.
    """

    fault: Compute
    what: Callable[[Any], str]


@frozen
class StatementFault:
    """A call is its first input, and has no value where its second, a bool[], is false; `message(attributes)` says why
    the run ends then."""

    message: Callable[[Any], str]


Fault: TypeAlias = Union[NoFault, IndexFault, StatementFault]


@frozen
class NotDifferentiable:
    """There is no useful derivative; it counts as zero."""

    reason: str


@frozen
class NotYetDifferentiable:
    """There is a derivative, which nobody has written yet."""

    reason: str


@frozen
class NoCompute:
    """The operator is not a tensor expression; `reason` says who does it instead."""

    reason: str


@frozen
class NoFormula:
    """The operator is not written by others: a target has it or cannot run it."""

    reason: str


Formula: TypeAlias = Callable[..., Any]
"""`formula(attributes, *arguments) -> Expr`: the call by other operators, for targets that do not have this one."""
GradientRule: TypeAlias = Callable[[Call, Expr], "tuple[Expr | None, ...]"]
"""`gradient(call, output gradient) -> an entry an input`: how much the final value changes with each input, where the
output gradient says how much it does with the result.

`call` is typed and is the result itself, where a gradient needs that (`multiply(output_gradient, call)` of `exp`): what
is shared is computed once. The output gradient has the call's type. So has each entry its input's, tuples too; None is
for an input that has no derivative, such as indices. A gradient is an expression of the operators of `ops`, which is
differentiable in turn. An entry may be larger than its input, where that was repeated: more axes in front, or other
extents than 1; it is summed over these.
"""
Gradient: TypeAlias = Union[GradientRule, NotDifferentiable, NotYetDifferentiable]
Meaning: TypeAlias = Callable[..., Any]
"""`meaning(attributes, *arrays) -> array | tuple of arrays`; an input that is a tuple comes as a tuple of arrays."""


ScheduleRule: TypeAlias = "Callable[[Schedule], Schedule]"
"""`rule(schedule) -> schedule`: the loops of a kernel as they come, whose stages are those that `compute` and the
operators of the group around it make, and steps that make them fast."""


@frozen
class StaticOf:
    """What an operator is the static form of: `dynamic` takes as its last inputs, tensors [k] of integers, what this
    one has in its attributes. `attributes(attributes of dynamic, *those inputs)` are this one's where it means the
    same; None where the other fails. The inputs come as meanings take them: numbers, or symbolic integers."""

    dynamic: Operator
    attributes: Callable[..., Attributes | None]


def gradient_above(home: str, name: str) -> GradientRule:
    """A rule that needs operators of rooms above its own: `name` in `relay.ops.gradients.{home}`."""

    def rule(call: Call, given: Expr) -> tuple[Expr | None, ...]:
        return getattr(import_module(f"relay.ops.gradients.{home}"), name)(call, given)

    return rule


def same_gradient(call: Call, given: Expr) -> tuple[Expr | None, ...]:
    """The gradient of what is its first input, repeated or not; the others only say how."""
    return (given, *(None for _ in call.args[1:]))


PIECEWISE_CONSTANT = NotDifferentiable("its value does not change with a small change of its inputs")
PRIMITIVE = NoFormula("nobody has written it by other operators")
BEHIND_DIFFERENTIATION = NotYetDifferentiable("passes make it of operators that have one, of derivatives too")
NO_GRADIENT_YET = NotYetDifferentiable("nobody has written it")


@frozen(eq=False, repr=False, kw_only=True)
class OperatorRecord(Operator):
    """Everything about one operator. `argument_docs` has one entry an input; `support_level` is Relay's. `is_view`: the
    result is input 0's memory under another shape. `reads_shapes_only`: the values of its inputs do not matter.
    `update`: where only a part of input 0 changes. `schedules`, by kinds of
    targets: how kernels with this operator are scheduled there; the target decides where there is none.
    `op`: its one mention, which all calls share: a program has a node less for each call."""

    argument_docs: tuple[str, ...]
    meaning: Meaning
    compute: Compute | NoCompute
    gradient: Gradient
    fusion: FusionKind
    layout: LayoutRule
    batch: BatchRule
    scale: ScaleRole
    extents: Extents
    fault: Fault
    floating_point: FloatingPointClass
    support_level: int
    is_view: bool
    precision: PrecisionRule
    formula: Formula | NoFormula
    static_of: StaticOf | None
    reads_shapes_only: bool
    update: Update | None
    schedules: Mapping[str, ScheduleRule]
    op: Op = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "op", Op(self))


def define(
    name: str,
    description: str,
    *,
    inputs: Mapping[str, str],
    type_rule: TypeRule,
    meaning: Meaning,
    compute: Compute | NoCompute,
    effect: Effect,
    gradient: Gradient,
    fusion: FusionKind,
    layout: LayoutRule,
    support_level: int,
    batch: BatchRule | None = None,
    scale: ScaleRole | None = None,
    attributes: type[Attributes] = NoAttributes,
    floating_point: FloatingPointClass = FloatingPointClass.EXACT,
    extents: Extents = FromTypes(),
    fault: Fault = NoFault(),
    is_view: bool = False,
    precision: PrecisionRule | None = None,
    formula: Formula | NoFormula = PRIMITIVE,
    static_of: StaticOf | None = None,
    reads_shapes_only: bool = False,
    update: Update | None = None,
    multiply_adds: MultiplyAdds | None = None,
    input_defaults: tuple[tuple[str, float], ...] = (),
    schedules: Mapping[str, ScheduleRule] = MappingProxyType({}),
) -> OperatorRecord:
    """A record. `inputs` maps each argument's name to its documentation; `type_rule` becomes the type relation;
    `input_defaults` are those of `Operator`.

    What is not given here follows from other facts, or must be given: `batch` (`batch_rule_of`), `scale`
    (`scale_role_of`) and `precision` (`precision_rule_of`). Raises `RelayError` (rule `operator-fact`) for one that
    does not follow, and for an effect that kernels would not have.
    """
    _check_effect(name, effect, compute, fault, fusion)
    names = tuple(inputs)
    return OperatorRecord(
        name=name,
        inputs=names,
        relation=relation_of(names, type_rule),
        attributes=attributes,
        effect=effect,
        description=description,
        multiply_adds=multiply_adds,
        input_defaults=input_defaults,
        argument_docs=tuple(inputs.values()),
        meaning=meaning,
        compute=compute,
        gradient=gradient,
        fusion=fusion,
        layout=layout,
        batch=batch or _known(name, "batch", batch_rule_of(fusion, layout), "NoBatchRule"),
        scale=scale or _known(name, "scale", scale_role_of(gradient), "NoScale"),
        extents=extents,
        fault=fault,
        floating_point=floating_point,
        support_level=support_level,
        is_view=is_view,
        precision=precision or precision_rule_of(floating_point, fusion),
        formula=formula,
        static_of=static_of,
        reads_shapes_only=reads_shapes_only,
        update=update,
        schedules=schedules,
    )


# Facts that follow from others


def batch_rule_of(fusion: FusionKind, layout: LayoutRule) -> BatchRule | None:
    """What works element by element in any layout does so on rows."""
    if fusion <= FusionKind.BROADCAST and isinstance(layout, Elementwise | Broadcasting):
        return ByElement(broadcasts=fusion is FusionKind.BROADCAST)
    return None


def scale_role_of(gradient: Gradient) -> ScaleRole | None:
    """What has no derivative is not linear."""
    return NoScale(gradient.reason) if isinstance(gradient, NotDifferentiable) else None


def precision_rule_of(floating_point: FloatingPointClass, fusion: FusionKind) -> PrecisionRule:
    """What moves, compares and combines elements exactly follows the type of its inputs; all else stays wide."""
    exact = floating_point is FloatingPointClass.EXACT and fusion is not FusionKind.OPAQUE
    return PrecisionRule.FOLLOW if exact else PrecisionRule.WIDE


def _check_effect(name: str, effect: Effect, compute: Compute | NoCompute, fault: Fault, fusion: FusionKind) -> None:
    """Compiled programs do what interpreted ones do: loops alone do not fail and have no state, and a kernel does what
    it does at once."""
    if effect is Effect.STATEFUL and callable(compute):
        found, remedy = "loops (`compute`), which have no state", 'compute=NoCompute("who does it instead")'
    elif effect is Effect.MAY_FAIL and callable(compute) and isinstance(fault, NoFault):
        found, remedy = "loops (`compute`) that do not fail", "say by `fault` when they do, or compute=NoCompute(…)"
    elif effect is not Effect.PURE and fusion is not FusionKind.OPAQUE:
        found, remedy = f"fusion={fusion.name}, as a part of other kernels", "fusion=FusionKind.OPAQUE"
    else:
        return
    raise RelayError(
        rule="operator-fact", message=f"`{name}` has an effect ({effect.value}) that its kernels would not have",
        found=found, remedy=remedy, span=caller_span(),
    )  # fmt: skip


_Fact = TypeVar("_Fact")


def _known(operator: str, fact: str, value: _Fact | None, missing: str) -> _Fact:
    if value is None:
        raise RelayError(
            rule="operator-fact", message=f"`{operator}` says nothing of its `{fact}`, and no other fact tells it",
            remedy=f'give `{fact}`, such as {missing}("why there is none")', span=caller_span(),
        )  # fmt: skip
    return value
