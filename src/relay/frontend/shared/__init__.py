r"""What importers stand on: a new one brings a reader of its format and a table of converters.

A `ProgramBuilder` makes the values of a model: `input`, `weight`, and `convert` for each node, whose inputs are values.
A converter takes a `Node` and gives an expression of operators, a `Value` passed on, or elements that it knows; what it
cannot do ends in `node.unsupported(reason)`, and all such reasons are one error of `Findings`. `finish` makes the
module of what the outputs reach. `GivenTypes` are the types of inputs that users give by name.

Shape arithmetic is done on the way: a converter that reads the extents of its input gives `array_of` them, and where
the elements of a node's inputs are known, so are those of its results, by the meaning of the operators that its
converter chose (`ops/framework/known_elements.py`). Converters write no second meaning; they ask `node.integers`,
`node.extents` or `node.scalar` for the numbers that their operator has as attributes.

A whole importer of lines such as `y = Add x x`:

>>> from relay.base.span import Source, Span
>>> from relay.frontend.shared import Findings, Node, ProgramBuilder, array_of, converter
>>> from relay.ops.framework.build import tensor_type
>>> from relay.ops.elementwise.elementwise_binary import add, divide, multiply
>>> from relay.ops.manipulation.shape import reshape
>>> converters = {
...     "Add": converter("Add", lambda node: add(node.expr(0), node.expr(1))),
...     "Mul": converter("Mul", lambda node: multiply(node.expr(0), node.expr(1))),
...     "Div": converter("Div", lambda node: divide(node.expr(0), node.expr(1))),
...     "Shape": converter("Shape", lambda node: array_of(node.value(0).shape)),
...     "Reshape": converter("Reshape", lambda node: reshape(node.expr(0), node.extents(1, "a shape"))),
... }
>>> def imported(text, inputs, weights):
...     builder, source = ProgramBuilder(Findings("unsupported-lines")), Source("model.txt", text)
...     values = {name: builder.input(name, type_) for name, type_ in inputs.items()}
...     values |= {name: builder.weight(name, array) for name, array in weights.items()}
...     for number, line in enumerate(text.splitlines(), start=1):
...         name, _, operator, *names = line.split()
...         node = Node(operator, name, tuple(values[each] for each in names), {}, 1)
...         if operator not in converters:
...             builder.findings.add(f"operator {operator}", name)
...             raise builder.findings.error("model.txt")
...         (values[name],) = builder.convert(converters[operator], node, [name], Span(source, number))
...     return builder.finish([values[name]])

The shape is `[2*n, 3]` while the model is read, and leaves no trace in the program:

>>> import numpy as np
>>> text = "s = Shape x\nt = Mul s up\nu = Div t down\nd = Add x x\ny = Reshape d u"
>>> module, used = imported(text, {"x": tensor_type(("n", 6))}, {"up": np.array([2, 1]), "down": np.array([1, 2])})
>>> print(module["main"].body.attrs.newshape, [var.name_hint for var in module["main"].params], used)
(2*n, 3) ['x'] {}
"""

from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.findings import Findings
from relay.frontend.shared.inputs import GivenTypes
from relay.frontend.shared.names import SymbolNames, printable
from relay.frontend.shared.node import Converter, Node, Output, Result, Unsupported, converter
from relay.frontend.shared.value import Value, array_of, is_symbolic

__all__ = [
    "Converter", "Findings", "GivenTypes", "Node", "Output", "ProgramBuilder", "Result", "SymbolNames", "Unsupported",
    "Value", "array_of", "converter", "is_symbolic", "printable",
]  # fmt: skip
