"""Calls of kernels: scalars are computed in place, tensors are made for results, views share their data."""

from __future__ import annotations

from collections.abc import Sequence

from relay.ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    Var,
)
from relay.ir.types import ANY, TensorType, TupleType, Type
from relay.lower.checked import ValueCheck, check_of
from relay.lower.extent_code import extent_here
from relay.lower.kernel_calls import extents_of, size_bytes
from relay.lower.ownership import OwningScope
from relay.lower.procedure import (
    Branch,
    ComputeScalar,
    Fail,
    NewTensor,
    NewView,
    Operand,
    Register,
    Scalar,
    Unbox,
)
from relay.lower.refusal import not_native
from relay.lower.representation import (
    BOXED,
    Unboxed,
    representation,
)
from relay.lower.run_time_checks import group_checks
from relay.lower.views import is_view
from relay.runtime.manifest import CHECK_FAILED, CellLabel, TensorLabel


class KernelScope(OwningScope):
    """A scope that lowers calls of primitive functions."""

    def _kernel(self, var: Var, call: Call, function: Function, args: Sequence[Expr]) -> None:
        types = [self._here(argument) for argument in args]
        result_type, extents = call.checked_type, self.scopes.extents
        extents.check(self.block, group_checks(function), self.symbols, call)
        check = check_of(function, args)
        if check is not None:
            self._checked(var, check, call)
            return
        kernel = self.around.kernel(function)
        if kernel.of_scalars and not is_view(function) and isinstance(result_type, TensorType):
            inputs = tuple(map(self._scalar, args))
            result = self.values.of[var] = Scalar(self._register(), result_type.dtype)
            self.block.add(ComputeScalar(result, kernel.name, inputs))
            return
        operands = tuple(self._operand(argument) for argument in args)
        known = extents_of(function, types)
        extents.refuse(self.block, function, operands, known, self.symbols, call)
        extents.compute(self.block, function, operands, known, self.symbols, call)
        if is_view(function) and isinstance(result_type, TensorType):
            self._view(var, args[0], self._type_here(result_type, call))
            return
        outputs = self._outputs(var, result_type, call)
        extents.run(self.block, function, operands, outputs, known, self.symbols, call)
        if isinstance(result_type, TupleType) and var not in self.values.of:
            fields = tuple(each for each in outputs if isinstance(each, Register))
            self.values.of[var] = self._new_cell(CellLabel("tuple"), fields)

    def _checked(self, var: Var, check: ValueCheck, call: Call) -> None:
        """What is checked, behind a branch to where the run fails."""
        passed, failed = self.scopes.procedure.block(), self.scopes.procedure.block()
        self.block.close(Branch(self._operand(check.holds), passed.number, failed.number))
        where = "" if call.span is None else f" ({call.span})"
        failed.close(Fail(self.around.failure(f"{CHECK_FAILED}{check.message}{where}")))
        self.block = passed
        self._alias(var, check.data)

    def _outputs(self, var: Var, type_: Type | None, call: Call) -> tuple[Register | Scalar, ...]:
        """What a kernel writes; the variable is held in it, but for a tuple of so many parts that it is made."""
        if isinstance(type_, TupleType) and representation(type_) == BOXED:
            return tuple(self._new_tensor(field, call) for field in type_.fields)
        self.values.hold(var, representation(type_))
        held = [(leaf, self.values.of[leaf]) for leaf in self.values.leaves(var)]
        for leaf, where in held:
            if isinstance(where, Register):
                self._new_tensor(leaf.checked_type, call, where)
        return tuple(where for _, where in held if not isinstance(where, tuple))

    def _scalar(self, argument: Expr) -> Scalar:
        """A scalar that an operator reads."""
        type_ = self._here(argument)
        (register,) = self._give([argument], [Unboxed(type_.dtype)])
        return Scalar(register, type_.dtype)

    def _operand(self, argument: Expr) -> Operand:
        match argument:
            case Var():
                held = self.values.of[argument]
                return held if isinstance(held, Scalar) else self.values.word(argument)
            case Constant():
                return self.around.place(argument)
            case _:
                raise not_native(argument, f"gives an operator a {type(argument).__name__}")

    def _new_tensor(self, type_: Type | None, call: Call, result: Register | None = None) -> Register:
        here = self._type_here(type_, call)
        result = result or self._register()
        label = self.around.label(TensorLabel(here.dtype, len(here.shape)))
        self.block.add(NewTensor(result, label, here.shape, size_bytes(here)))
        return result

    def _view(self, var: Var, source: Expr, type_: TensorType) -> None:
        """A tensor with the data of another; of one without axes, the element."""
        operand = self._operand(source)
        if not type_.shape and isinstance(operand, Scalar):
            self.values.of[var] = operand
        elif not type_.shape and not isinstance(operand, Scalar):
            result = self.values.of[var] = Scalar(self._register(), type_.dtype)
            self.block.add(Unbox(result, operand))
        else:
            word = self.values.of[var] = self._register()
            label = self.around.label(TensorLabel(type_.dtype, len(type_.shape)))
            (owned,) = self._give_words([source])
            self.block.add(NewView(word, label, type_.shape, owned))

    def _here(self, expr: Expr) -> TensorType:
        return self._type_here(expr.checked_type, expr)

    def _type_here(self, type_: Type | None, where: Expr) -> TensorType:
        """A tensor type in terms of the symbols that are defined in this procedure."""
        if not isinstance(type_, TensorType):
            raise not_native(where, f"gives an operator a value of type {type_}")
        if ANY in type_.shape:
            raise not_native(where, f"computes with a value of type {type_}, whose extent only the run knows")
        return TensorType(tuple(extent_here(extent, self.symbols, where) for extent in type_.shape), type_.dtype)
