"""Regions of a scope: its bindings of tensors wait until something else is next, and then are one region.

Tensors that outlive a region are made before it; scalars that only scalars need are computed around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from relay.base.diagnostics import CompilerBug
from relay.ir.expr import Call, Constant, Expr, Function, RefRead, Tuple, TupleGetItem, Var
from relay.ir.types import ANY, TensorType, TupleType, Type
from relay.lower.code.representation import BOXED, Boxed, Unboxed
from relay.lower.kernels.checked import ValueCheck, check_of
from relay.lower.kernels.group import is_of_tensors
from relay.lower.kernels.index_faults import index_user
from relay.lower.ownership.ownership import OpenScopes, OwningScope, Task
from relay.lower.ownership.value_locations import Location
from relay.lower.planning.kernel_calls import extent_here, size_bytes
from relay.lower.planning.kernel_line import KernelLine, leaves, stored
from relay.lower.planning.placing import overwritten, placed
from relay.lower.planning.straight_line import KernelStep, Storage, StoredValue
from relay.lower.planning.sub_buffers import write_parts_in_place
from relay.lower.planning.views import is_view
from relay.lower.procedures.waiting import Kind, Split, Waiting
from relay.lower.program.device import Device
from relay.lower.program.place import Buffer, DataPlace, Place, Register, Scalar, register_of
from relay.lower.program.procedure import (
    Branch,
    ComputeScalar,
    Fail,
    NewTensor,
    NewView,
    Operand,
    Unbox,
)
from relay.lower.refusal import not_native
from relay.runtime.artefact.failures import Failure, FailureKind
from relay.runtime.artefact.manifest import CellLabel, TensorLabel
from relay.transform.devices.flows import result_devices


class RegionScope(OwningScope):
    """A scope that gathers calls of primitive functions into regions."""

    def __init__(self, scopes: OpenScopes, task: Task) -> None:
        super().__init__(scopes, task)
        self.waiting: list[Waiting] = []
        self.made: set[Var] = set()  # by what waits
        self.read: set[Var] = set()  # by what waits, of the words that were there before
        self.refuses = False  # whether what waits may refuse an index
        self.contents = {var for var, value in self.bindings if isinstance(value, RefRead)}

    # ------------------------------------------------------------------------------------------- what is waited for

    def _kind(self, value: Expr) -> Kind | None:
        """What a binding is to a region; None where it is no part of any."""
        match value:
            case Call(op=Function() as function, args=args) if function.attrs.get("Primitive"):
                if check_of(function, args) is not None:
                    return None
                if is_view(function):
                    return Kind.REFUSAL if index_user(function) else Kind.LOOK
                if not self.context.kernel(function).of_scalars:
                    return Kind.KERNEL
                return None if self._runs_before(value) else Kind.FORMULA
            case TupleGetItem(tuple_value=whole) if not is_of_tensors(whole.checked_type):
                return None  # beside the tensor stands what no region knows
            case Tuple() | TupleGetItem() | Var() | Constant() if is_of_tensors(value.checked_type):
                return Kind.LOOK if all(map(self._is_at_hand, self.uses[self.time])) else None
            case _:
                return None

    def _is_at_hand(self, var: Var) -> bool:
        """Whether a region knows where the tensors of a value are: not if they are fields of a cell."""
        return var in self.made or (isinstance(var.checked_type, TensorType) and var in self.values.of)

    def _runs_before(self, value: Expr) -> bool:
        """Whether a binding that has no effect uses nothing that waits makes, and no word that it reads: its last use
        must be the last."""
        match value:
            case TupleGetItem():
                pass
            case Call(op=Function() as function, args=args) if function.attrs.get("Primitive"):
                if check_of(function, args) is not None:
                    return False
            case _:
                return False
        return not any(each in self.made or each in self.read for each in self.uses[self.time])

    # --------------------------------------------------------------------------------------------------- the region

    def _run(self, found: Split, dying: Sequence[Var], written: Mapping[Var, Register]) -> None:
        """Run a region. `dying` are the words that nothing uses behind it; `written` the refs that are written right
        behind it, by what they get: results, or what is made of them behind it."""
        line, apart = self._line(), self.context.apart
        results: dict[Storage, list[NewTensor | Scalar]] = {}
        cells: list[tuple[Var, tuple[Register, ...]]] = []
        for each in found.inside:
            line.bind(each.var, each.value, not (apart or each.var in found.results))
        for each in found.inside:
            if each.var in found.results:
                outputs = self._outputs(each.var, each.value)
                for leaf, output in zip(leaves(line.values[each.var]), outputs, strict=True):
                    results.setdefault(leaf.storage, []).append(output)
                if each.var not in self.values.of:
                    cells.append((each.var, tuple(new.result for new in outputs if isinstance(new, NewTensor))))
        steps = line.steps if apart else write_parts_in_place(line.steps, line.parts, list(results))
        if steps:
            held = {self.values.of[var]: ref for var, ref in written.items() if var in self.values.of}
            self._make_room(steps, line, results, dying, held)
            places = [(storage, _place(output)) for storage, outputs in results.items() for output in outputs]
            self.block.add(placed(steps, line.parts, places, self.context.kernel, self.symbols))
        for var, fields in cells:
            self.values.of[var] = self._new_cell(CellLabel("tuple"), fields)

    def _make_room(
        self, steps: Sequence[KernelStep], line: KernelLine, results: Mapping[Storage, Sequence[NewTensor | Scalar]],
        dying: Sequence[Var], written: Mapping[Location, Register],
    ) -> None:  # fmt: skip
        """Allocate what outlives a region: over words that die in it, where that may be."""
        first = {storage: outputs[0] for storage, outputs in results.items()}
        tensors = [each for each, made in first.items() if isinstance(made, NewTensor) and made.device is None]
        others = {self.values.word(var) for var in self.owned.keys() - dying}  # who may be another name of the same
        dead = [word for word in map(self.values.word, dying) if word not in others | self.values.devices.keys()]
        over = overwritten(steps, line.parts, tensors, self.context.kernel, list(map(DataPlace, dead)))
        may_fail = any(step.failure or self.context.kernel(step.function).on_device for step in steps)
        for storage, outputs in results.items():
            for new in outputs:
                if isinstance(new, NewTensor):
                    place = over.get(storage) if new is outputs[0] else None
                    cell = None if may_fail else written.get(new.result)
                    is_over = isinstance(place, DataPlace)
                    self.block.add(replace(new, over=place.tensor, cell=cell) if is_over else new)

    def _line(self) -> KernelLine:
        return KernelLine(self.context, self._outside, self._type_here, writes_all=self.context.apart)

    def _outputs(self, var: Var, call: Expr) -> tuple[NewTensor | Scalar, ...]:
        """What a kernel writes that outlives its region; the variable is held in it, but for a tuple of so many parts
        that it is made."""
        type_ = call.checked_type
        how = self.context.held(var)
        if isinstance(type_, TupleType) and how == BOXED:
            devices = (self.context.device(var, (index,)) for index in range(len(type_.fields)))
            return tuple(
                self._new_tensor(field, call, device) for field, device in zip(type_.fields, devices, strict=True)
            )
        self.values.hold(var, how)
        outputs: list[NewTensor | Scalar] = []
        for leaf in self.values.leaves(var):
            where = self.values.of[leaf]
            if isinstance(where, Register):
                outputs.append(self._new_tensor(leaf.checked_type, call, self.values.devices.get(where), where))
            elif isinstance(where, Scalar):
                outputs.append(where)
        return tuple(outputs)

    def _outside(self, var: Var) -> StoredValue:
        """What a variable is that was bound before."""
        held = self.values.of[var]
        match held:
            case Register() if not isinstance(var.checked_type, TensorType):
                return ()  # beside tensors that kernels read: no kernel reads it
            case Register():
                return stored(self._here(var), DataPlace(held))
            case Scalar():
                return stored(self._here(var), held)
            case parts:
                return tuple(map(self._outside, parts))

    # ------------------------------------------------------------------------------------------------ around regions

    def _around_kernels(self, var: Var, call: Call, function: Function, args: Sequence[Expr]) -> None:
        """A call of a primitive function for which no kernel runs."""
        check = check_of(function, args)
        if check is not None:
            self._checked(var, check, call)
        elif is_view(function):
            self._view(var, args[0], self._here(call))
        else:
            inputs = tuple(map(self._scalar, args))
            result = self.values.of[var] = self.scopes.procedure.scalar(self._here(call).dtype)
            self.block.add(ComputeScalar(result, self.context.kernel(function).name, inputs))

    def _checked(self, var: Var, check: ValueCheck, call: Call) -> None:
        """What is checked, behind a branch to where the run fails."""
        passed, failed = self.scopes.procedure.block(), self.scopes.procedure.block()
        self.block.close(Branch(self._operand(check.holds), passed.number, failed.number))
        where = "" if call.span is None else f" ({call.span})"
        failed.close(Fail(self.context.failure(Failure(FailureKind.CHECKED, f"{check.message}{where}"))))
        self.block = passed
        self._alias(var, check.data)

    def _scalar(self, argument: Expr) -> Scalar:
        """A scalar that an operator reads."""
        (held,) = self._give([argument], [Unboxed(self._here(argument).dtype)])
        if not isinstance(held, Scalar):
            raise CompilerBug("lower", f"{held} is read as a scalar")
        return held

    def _operand(self, argument: Expr) -> Operand:
        match argument:
            case Var():
                held = self.values.of[argument]
                return held if isinstance(held, Scalar) else self.values.word(argument)
            case Constant():
                return self.context.place(argument)
            case _:
                raise not_native(argument, f"gives an operator a {type(argument).__name__}")

    def _new_tensor(
        self, type_: Type | None, where: Expr, device: Device | None, result: Register | None = None
    ) -> NewTensor:
        here = self._type_here(type_, where)
        label = self.context.label(TensorLabel(here.dtype, len(here.shape)))
        return NewTensor(result or self._register(), label, here.shape, size_bytes(here), device=device)

    def _view(self, var: Var, source: Expr, type_: TensorType) -> None:
        """A tensor with the data of another; of one without axes, the element."""
        operand = self._operand(source)
        if not type_.shape and isinstance(operand, Scalar):
            self.values.of[var] = operand
        elif not type_.shape and not isinstance(operand, Scalar):
            result = self.values.of[var] = self.scopes.procedure.scalar(type_.dtype)
            self.block.add(Unbox(result, operand))
        else:
            label = self.context.label(TensorLabel(type_.dtype, len(type_.shape)))
            how = self._how(source)
            (owned,) = self._give_words([source])
            (made,) = self.values.hold(var, how if isinstance(how, Boxed) else BOXED)
            device = made.device if isinstance(made, Buffer) else None
            self.block.add(NewView(register_of(made), label, type_.shape, owned, device))

    def _here(self, expr: Expr) -> TensorType:
        return self._type_here(expr.checked_type, expr)

    def _type_here(self, type_: Type | None, where: Expr) -> TensorType:
        """A tensor type in terms of the symbols that are defined in this procedure."""
        if not isinstance(type_, TensorType):
            raise not_native(where, f"gives an operator a value of type {type_}")
        if ANY in type_.shape:
            raise not_native(where, f"computes with a value of type {type_}, whose extent is only known at run time")
        return TensorType(tuple(extent_here(extent, self.symbols, where) for extent in type_.shape), type_.dtype)


def is_on_device(value: Expr) -> bool:
    """Whether a binding makes tensors on a device."""
    return isinstance(value, Call) and isinstance(value.op, Function) and bool(result_devices(value.op))


def _place(output: NewTensor | Scalar) -> Place:
    """Where a kernel writes an output."""
    return DataPlace(output.result) if isinstance(output, NewTensor) else output
