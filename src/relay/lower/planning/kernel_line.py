"""Bindings of A-normal form as a line of kernel calls: tensors get storage, and what only looks at others runs nothing.

    let %a = conv(%x);  let %b = reshape(%a);  let %c = dense(%b, %w)        steps: conv x → s0;  dense s0, w → s1

Reshapes are views: their result is in the storage of their input. Slices of what lies together are parts of it. Tuples
are tuples of storages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from relay.base.diagnostics import CompilerBug
from relay.ir.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem, Var
from relay.ir.known_types import known_type
from relay.ir.types import TensorType, Type
from relay.lower.kernels.index_faults import FAULT_TYPE, index_user
from relay.lower.kernels.updates import as_update
from relay.lower.planning.kernel_calls import size_bytes
from relay.lower.planning.straight_line import KernelStep, Part, Storage, StoredTensor, StoredValue
from relay.lower.planning.sub_buffers import slices
from relay.lower.planning.views import is_view
from relay.lower.program.place import Place, Scalar
from relay.lower.refusal import not_native
from relay.runtime.artefact.failures import Failure, FailureKind


class Around(Protocol):
    """What a line asks of the code around it."""

    def place(self, constant: Constant) -> Place:
        """Where the data of a constant stand."""
        ...

    def failure(self, meaning: Failure) -> int:
        """The number of the failure that means this."""
        ...

    def fault_function(self, function: Function) -> Function:
        """The primitive function of an index that another refuses."""
        ...


class KernelLine:
    """Steps, and the storages of variables; `parts` are the storages that are parts of others. `outside` are the values
    of variables that were bound before; `here` says a type in terms of the symbols that are known where this runs.
    `writes_all`: no kernel changes only a part of what is there."""

    def __init__(
        self, around: Around, outside: Callable[[Var], StoredValue], here: Callable[[TensorType, Expr], TensorType],
        writes_all: bool = False,
    ) -> None:  # fmt: skip
        self.steps: list[KernelStep] = []
        self.parts: dict[Storage, Part] = {}
        self.values: dict[Var, StoredValue] = {}
        self._around = around
        self._outside = outside
        self._here = here
        self._writes_all = writes_all

    def bind(self, var: Var, value: Expr, may_be_part: bool = True) -> None:
        """Bind a variable; what a kernel makes is a part of something else only if it may be."""
        match value:
            case Call(op=Function() as function) if function.attrs.get("Primitive"):
                self.values[var] = self._call(value, function, may_be_part)
            case TupleGetItem(tuple_value=whole, index=index):
                fields = self.value(whole)
                if isinstance(fields, StoredTensor):
                    raise CompilerBug("lower", "a field is taken of a tensor")
                self.values[var] = fields[index]
            case _:
                self.values[var] = self.value(value)

    def value(self, atom: Expr) -> StoredValue:
        match atom:
            case Var():
                found = self.values.get(atom)
                if found is None:
                    found = self.values[atom] = self._outside(atom)
                return found
            case Constant(data=data):
                return stored(TensorType(data.shape, atom.dtype), self._around.place(atom))
            case Tuple(fields=fields):
                return tuple(map(self.value, fields))
            case _:
                raise not_native(atom, f"holds the expression {type(atom).__name__}")

    def _call(self, call: Call, function: Function, may_be_part: bool) -> StoredValue:
        arguments = tuple(map(self.tensor, call.args))
        user = index_user(function)
        if user:
            failure = self._around.failure(Failure(FailureKind.INDEX, user))
            fault = self._around.fault_function(function)
            self.steps.append(KernelStep(fault, arguments, (stored(FAULT_TYPE).storage,), failure=failure))
        type_ = known_type(call)
        if is_view(function) and isinstance(type_, TensorType):
            return StoredTensor(self._here(type_, call), arguments[0].storage)
        result = nested(type_, lambda leaf: stored(self._here(leaf, call)))
        outputs = tuple(leaf.storage for leaf in leaves(result))
        of_scalar = bool(arguments) and isinstance(arguments[0].storage.fixed, Scalar)
        found = slices(function, arguments) if may_be_part and not of_scalar else None
        if found is None:
            self.steps.append(KernelStep(function if self._writes_all else as_update(function), arguments, outputs))
        else:
            self.parts.update(zip(outputs, found, strict=True))
        return result

    def tensor(self, atom: Expr) -> StoredTensor:
        """The value of what a kernel is given."""
        value = self.value(atom)
        if not isinstance(value, StoredTensor):
            raise CompilerBug("lower", "a kernel is given a tuple")
        return value


def stored(type_: TensorType, fixed: Place | None = None) -> StoredTensor:
    """A tensor in storage of its own, or at a place."""
    return StoredTensor(type_, Storage(size_bytes(type_), fixed, type_.shape))


def nested(type_: Type, leaf: Callable[[TensorType], StoredTensor]) -> StoredValue:
    """A value of a type, given what makes its tensors, in order."""
    if isinstance(type_, TensorType):
        return leaf(type_)
    fields: tuple[Type, ...] = getattr(type_, "fields", ())
    return tuple(nested(each, leaf) for each in fields)


def leaves(value: StoredValue) -> Iterator[StoredTensor]:
    """The tensors of a value, in order."""
    if isinstance(value, StoredTensor):
        yield value
    else:
        for part in value:
            yield from leaves(part)
