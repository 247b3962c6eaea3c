"""What users say of a model's inputs where the model does not, or in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TypeAlias, Union

from relay.arith.expr import IntExpr
from relay.base.arguments import Kind, expect
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.frontend.shared.names import printable
from relay.ops.framework.build import dimensions

Shape: TypeAlias = Sequence[Union[int, str, IntExpr]]
"""A shape as users write it: numbers, and names of symbols."""

_SHAPE = Kind((tuple, list), "a tuple of extents", lambda value: f"write ({value},)" if isinstance(value, int) else "")


@frozen(eq=False)
class GivenTypes:
    """The arguments `shape` and `dtype` of an importer: shapes by the names of inputs, and the element type of inputs
    that the model does not type, of all or by name. `extents` are numbers for dimensions that the model names.

    >>> given = GivenTypes({"x": ("n", 3)}, {"y": "int8"})
    >>> given.check_names(["x", "y"])
    >>> given.shape_of("x"), given.shape_of("y"), given.dtype_of("x"), given.dtype_of("y")
    ((n, 3), None, <DType.FLOAT32: 'float32'>, <DType.INT8: 'int8'>)
    >>> given.check_names(["input.1"])
    Traceback (most recent call last):
        ...
    relay.base.diagnostics.RelayError: error[unknown-input]: the model has no input called 'x'
      expected: one of input.1
      found:    x
    """

    shape: Mapping[str, Shape]
    dtype: str | Mapping[str, str] = "float32"
    extents: Mapping[str, int] = field(default_factory=dict[str, int])

    def check_names(self, names: Sequence[str]) -> None:
        """Raises `RelayError` (rule `unknown-input`) where a name is none of the model's."""
        given = (*self.shape, *(self.dtype if isinstance(self.dtype, Mapping) else ()))
        unknown = next((name for name in given if name not in names), None)
        if unknown is not None:
            raise RelayError(
                rule="unknown-input", message=f"the model has no input called {unknown!r}",
                expected="one of " + (", ".join(map(printable, names)) or "(it has no inputs)"), found=unknown,
            )  # fmt: skip

    def shape_of(self, name: str) -> tuple[IntExpr, ...] | None:
        """The shape given for an input, if one is. Raises `RelayError` (rules `wrong-argument`, `bad-extent`)."""
        if name not in self.shape:
            return None
        shape = self.shape[name]
        expect(shape, _SHAPE, f"the shape given for the input {printable(name)!r}")
        return dimensions(tuple(shape))

    def dtype_of(self, name: str) -> DType:
        """The element type of an input that the model does not type."""
        return dtype_of(self.dtype.get(name, "float32") if isinstance(self.dtype, Mapping) else self.dtype)
