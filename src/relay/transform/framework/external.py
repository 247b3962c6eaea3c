"""What a compiler of somebody else's is asked: which groups it takes, and for native code of the regions that they are
put together to.

A region is compiled to a C function that takes addresses, and is called like a kernel of relay's own:

    void symbol(inputs…, constants…, outputs…, int64_t extents…);

Tensors are dense, row-major, and never overlap; the extents are those that the types leave open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, Union

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.target import Target
from relay.ir.expr import Call, Constant, Function, Op
from relay.ir.types import TensorType

COMPOSITE = "Composite"
"""The attribute of a function that stands for what `MergeComposite` matched: its name."""


@frozen
class Supported:
    """The target makes code of a group."""


@frozen
class Refused:
    """The target makes no code of a group, and why, in words about "it", the target."""

    reason: str


Answer: TypeAlias = Union[Supported, Refused]


@frozen(eq=False)
class ExternalFunction:
    """A region to be compiled. `function` is as it was partitioned, typed, with its constants inside; those of more
    than one element are handed over too, in the order of `constants`, so that code need not hold them."""

    symbol: str
    function: Function
    inputs: tuple[TensorType, ...]
    constants: tuple[Constant, ...]
    outputs: tuple[TensorType, ...]
    extents: tuple[Symbol, ...]

    @property
    def prototype(self) -> str:
        """How the function is declared in C (`<stdint.h>` and `<stdbool.h>` say the types).

        >>> scalars = TensorType((), DType.FLOAT32), TensorType((), DType.INT64)
        >>> ExternalFunction("f", Function((), Constant(0)), scalars, (), scalars[:1], ()).prototype
        'void f(const float *in0, const int64_t *in1, float *out0)'
        """
        parts = [f"const {_c_type(type_.dtype)} *in{i}" for i, type_ in enumerate(self.inputs)]
        parts += [f"const {_c_type(constant.dtype)} *constant{i}" for i, constant in enumerate(self.constants)]
        parts += [f"{_c_type(type_.dtype)} *out{i}" for i, type_ in enumerate(self.outputs)]
        parts += [f"int64_t {symbol.name}" for symbol in self.extents]
        return f"void {self.symbol}({', '.join(parts) or 'void'})"


class ExternalCompiler(Protocol):
    """Another compiler. It is asked as targets are; what it does not say, `relay.targets.external` says for it."""

    def supports(self, group: Function) -> Answer:
        """Whether it takes a function of one call: of an operator, or of a composite (`callee`)."""
        ...

    def compile(self, functions: Sequence[ExternalFunction], target: Target) -> Sequence[bytes]:
        """Native code of all regions of its name in a program: relocatable objects for the target,
        position-independent, which together define the symbol of each function. What else they call is looked for in
        the C library and in what the process has loaded."""
        ...


def checked_answer(answer: object, called: str) -> Answer:
    """What a target, known as `called`, answers when it is asked what it supports. Raises `RelayError` (rule
    `target-answer`) for what is no answer."""
    if isinstance(answer, Supported | Refused):
        return answer
    raise RelayError(
        rule="target-answer",
        message=f"{called} was asked what it supports, and did not say",
        expected="Supported(), or Refused(why not)",
        found=repr(answer),
        remedy=f"this is a fault of what brings {called}, not of the program",
    )


def callee(group: Function) -> str:
    """The name of the operator, or of the composite, that a function of one call calls; "" for any other."""
    return called_name(group.body) if isinstance(group.body, Call) else ""


def called_name(call: Call) -> str:
    """The name of the operator, or of the composite, that is called; "" for any other function."""
    match call.op:
        case Op(name=name):
            return name
        case Function(attrs=attributes):
            return str(attributes.get(COMPOSITE, ""))
        case _:
            return ""


_C_TYPES = {DType.FLOAT32: "float", DType.FLOAT64: "double", DType.BOOL: "bool"}


def _c_type(dtype: DType) -> str:
    """The type of an element in C; elements that C has no type for are unsigned integers of their size."""
    if dtype in _C_TYPES:
        return _C_TYPES[dtype]
    return f"{dtype}_t" if dtype.is_integer and not dtype.is_sub_byte_integer else f"uint{8 * dtype.item_bytes}_t"
