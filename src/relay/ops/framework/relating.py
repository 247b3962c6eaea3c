"""How the type relations of operators are written: as rules that read inputs, and stop when they cannot go on.

A *type rule* is `rule(run, attributes) -> Type`. `run` reads the inputs by position, states what must be equal, and
collects what only the run can check. Asking for an input that is still open ends the rule with `Waiting`; what cannot
be right ends it with `Conflict`; so a rule reads as the formula it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

from relay.arith.expr import Comparison
from relay.arith.prove import Proof
from relay.base.dtypes import DType
from relay.ir.operator import Check, Conflict, Relation, RelationOutcome, Solved, Waiting
from relay.ir.types import ANY, Dimension, IncompleteType, TensorType, TupleType, Type, type_parts
from relay.ops.framework.dimensions import decide, decide_equal


class Refused(Exception):
    """Ends a type rule early; `outcome` is what the relation answers."""

    def __init__(self, outcome: Waiting | Conflict) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class RelationRun:
    """One run of a type rule over the types of a call's inputs."""

    __slots__ = ("_checks", "_implied", "names", "types")

    def __init__(self, names: tuple[str, ...], types: tuple[Type, ...]) -> None:
        self.names = names
        self.types = types
        self._checks: list[Check] = []
        self._implied: list[Type | None] = [None] * len(types)

    def solved(self, result: Type) -> Solved:
        implied = tuple(self._implied) if any(self._implied) else ()
        return Solved(result, tuple(self._checks), implied)

    # Reading inputs

    def tensor(self, position: int, rank: int | None = None) -> TensorType:
        """The tensor type of an input, of `rank` axes if that is given."""
        type_ = self.types[position]
        name = self.names[position]
        if isinstance(type_, IncompleteType):
            raise Refused(Waiting((position,), f"the type of {name}"))
        if not isinstance(type_, TensorType):
            self.conflict("not-a-tensor", f"`{name}` must be a tensor", "a tensor", str(type_), (position,))
        if rank is not None and len(type_.shape) != rank:
            self.conflict(
                "wrong-rank", f"`{name}` must have {rank} {'axis' if rank == 1 else 'axes'}",
                f"{rank} axes", f"{type_}, which has {len(type_.shape)}", (position,),
            )  # fmt: skip
        return type_

    def tensors(self, position: int) -> tuple[TensorType, ...]:
        """The tensor types in a tuple input; at least one."""
        type_ = self.types[position]
        name = self.names[position]
        if isinstance(type_, IncompleteType):
            raise Refused(Waiting((position,), f"the type of {name}"))
        if not isinstance(type_, TupleType) or not type_.fields:
            self.conflict("not-a-tuple", f"`{name}` must be a tuple of tensors", "a tuple of at least one tensor",
                          str(type_), (position,))  # fmt: skip
        if any(isinstance(field, IncompleteType) for field in type_.fields):
            raise Refused(Waiting((position,), f"the types in {name}"))
        tensors = tuple(field for field in type_.fields if isinstance(field, TensorType))
        if len(tensors) != len(type_.fields):
            self.conflict(
                "not-a-tuple", f"`{name}` must be a tuple of tensors", "tensors only", str(type_), (position,)
            )
        return tensors

    def is_open(self, position: int) -> bool:
        """Whether nothing is known of an input yet."""
        return isinstance(self.types[position], IncompleteType)

    def tensor_like(self, position: int, shape: Sequence[Dimension], dtype: DType, remedy: str = "") -> TensorType:
        """An input whose type the others determine: checked when it is known, implied when it is open."""
        wanted = TensorType(tuple(shape), dtype)
        if self.is_open(position):
            self._implied[position] = wanted
            return wanted
        found = self.tensor(position)
        name = self.names[position]
        if len(found.shape) != len(wanted.shape):
            self.conflict("wrong-shape", f"`{name}` has the wrong rank", str(wanted), str(found), (position,), remedy)
        for axis, (want, have) in enumerate(zip(wanted.shape, found.shape, strict=True)):
            self.equal(want, have, f"axis {axis} of `{name}`", (position,), remedy, rule="wrong-shape")
        self.same_dtype(dtype, position)
        return found

    def implied(self, position: int, type_: Type) -> None:
        """An input is of the type that the others determine."""
        self._implied[position] = type_

    def with_possible_extents(self, result: Type) -> Type:
        """The result, if there are tensors of its extents."""
        for part in type_parts(result):
            if isinstance(part, TensorType) and any(isinstance(e, int) and not 0 <= e < 1 << 63 for e in part.shape):
                self.conflict("bad-extent", "the result would have an extent that no tensor has",
                              "0 or more, and at most 63 bits", str(part))  # fmt: skip
        return result

    # Stating facts

    def conflict(
        self, rule: str, message: str, expected: str = "", found: str = "", inputs: tuple[int, ...] = (),
        remedy: str = "",
    ) -> NoReturn:  # fmt: skip
        """End the rule: no types make this call right."""
        raise Refused(Conflict(rule, message, expected, found, remedy, inputs))

    def equal(
        self, wanted: Dimension, found: Dimension, what: str, inputs: tuple[int, ...] = (), remedy: str = "",
        rule: str = "extents-differ",
    ) -> Dimension:  # fmt: skip
        """`wanted` and `found` are one extent: a conflict if they cannot be, a check if that is not known.

        Returns the one that says more.
        """
        match decide_equal(wanted, found):
            case Proof.YES:
                return wanted
            case Proof.NO:
                return self.conflict(rule, f"{what} must be {wanted}", str(wanted), str(found), inputs, remedy)
            case Proof.UNKNOWN:
                self._checks.append(Check(Comparison(wanted, "==", found), f"{what} must be {wanted}, as {found}"))
                return found if wanted is ANY or (isinstance(found, int) and not isinstance(wanted, int)) else wanted

    def require(
        self, condition: Comparison, rule: str, message: str, inputs: tuple[int, ...] = (), remedy: str = ""
    ) -> None:
        """`condition` holds: a conflict if it cannot, a check if that is not known."""
        match decide(condition):
            case Proof.YES:
                return
            case Proof.NO:
                self.conflict(rule, message, str(condition), "", inputs, remedy)
            case Proof.UNKNOWN:
                self._checks.append(Check(condition, message))

    def same_dtype(self, dtype: DType, position: int) -> None:
        found = self.tensor(position).dtype
        if found is not dtype:
            self.conflict(
                "dtypes-differ", f"`{self.names[position]}` must be {dtype}", dtype, found, (), "cast one of them"
            )

    def dtype_in(self, position: int, accepts: Callable[[DType], bool], expected: str) -> DType:
        """The dtype of an input, which `accepts` must allow; `expected` describes those allowed."""
        dtype = self.tensor(position).dtype
        if not accepts(dtype):
            self.conflict("wrong-dtype", f"`{self.names[position]}` must be {expected}", expected, dtype, (position,),
                          "cast it first")  # fmt: skip
        return dtype

    def broadcast(self, left: Sequence[Dimension], right: Sequence[Dimension]) -> tuple[Dimension, ...]:
        """The shape that both broadcast to, aligned at the last axis. Extents of 1 are repeated; one that only the run
        knows is checked then: to be 1 or the known extent that it meets, or else the other one that is not known."""
        rank = max(len(left), len(right))
        padded_left = (1,) * (rank - len(left)) + tuple(left)
        padded_right = (1,) * (rank - len(right)) + tuple(right)
        return tuple(
            self._broadcast_extent(a, b, axis - rank)
            for axis, (a, b) in enumerate(zip(padded_left, padded_right, strict=True))
        )

    def _broadcast_extent(self, left: Dimension, right: Dimension, axis: int) -> Dimension:
        if left is right or right == 1:
            return left
        if left == 1:
            return right
        if decide_equal(left, right) is Proof.NO:
            self.conflict("extents-differ", f"the inputs do not broadcast at axis {axis}", "equal extents, or 1",
                          f"{left} and {right}",
                          remedy="bring axes in line with expand_dims, reshape or transpose")  # fmt: skip
        if isinstance(right, int):
            return self.repeats(left, right, f"axis {axis} of one input")
        return self.repeats(right, left, f"axis {axis} of one input")

    def repeats(self, extent: Dimension, wanted: Dimension, what: str, inputs: tuple[int, ...] = (),
                remedy: str = "") -> Dimension:  # fmt: skip
        """`extent` is `wanted`, or 1 where it is not known and `wanted` is: then elements are repeated. A conflict if
        it can be neither, a check if that is not known."""
        if extent == 1 or not isinstance(wanted, int) or isinstance(extent, int) or extent is ANY:
            return wanted if extent == 1 else self.equal(wanted, extent, what, inputs, remedy)
        if decide_equal(extent, wanted) is Proof.UNKNOWN:
            self._checks.append(Check(
                Comparison((extent - 1) * (extent - wanted), "==", 0), f"{what} must be {wanted}, or 1, as {extent}",
                f"{extent} == {wanted} or {extent} == 1",
            ))  # fmt: skip
            return wanted
        return self.equal(wanted, extent, what, inputs, remedy)

    def axis(self, axis: int, rank: int, what: str = "axis") -> int:
        """`axis` counted from the front; a negative one counts from the back."""
        if not -rank <= axis < rank:
            self.conflict("axis-out-of-range", f"`{what}` is not an axis of a tensor with {rank} axes",
                          f"from {-rank} to {rank - 1}" if rank else "nothing: a scalar has no axes",
                          str(axis))  # fmt: skip
        return axis % rank


TypeRule: TypeAlias = Callable[[RelationRun, Any], Type]


def relation_of(names: tuple[str, ...], rule: TypeRule) -> Relation:
    """The type relation that a type rule describes."""

    def relation(types: tuple[Type, ...], attributes: Any) -> RelationOutcome:
        if len(types) != len(names):
            return Conflict(
                "wrong-argument-count", f"takes {len(names)} arguments, not {len(types)}",
                ", ".join(names), f"{len(types)} arguments",
            )  # fmt: skip
        run = RelationRun(names, types)
        try:
            return run.solved(run.with_possible_extents(rule(run, attributes)))
        except Refused as refused:
            return refused.outcome

    return relation
