"""Generated well-typed programs: what inference says of each node, its value is.

The machine itself compares the value of every node with its inferred type and raises when they differ; here typed and
untyped evaluation must agree, and so must the program that comes back from its text.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.infer.eager import eager_type, type_eagerly
from relay.infer.infer_type import infer_type
from relay.interpret.evaluate import evaluate
from relay.ir.expr import Call, Function, GlobalVar, If, Let, Op, RefCreate, RefRead, Tuple, TupleGetItem, Var, const
from relay.ir.module import IRModule
from relay.ir.types import ANY, TensorType
from relay.ir.variables import refresh
from relay.ir.well_formed import well_formed
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse
from relay.text.printer import astext

N, M = Symbol("n"), Symbol("m")
SHAPES = [(N, 4), (N, 4), (4,), (M, 4), (N, 1), (2, N, 4), (ANY, 4), ()]
UNARY = ["nn.relu", "tanh", "negative", "copy"]
BINARY = ["add", "multiply", "maximum"]


def operator(name, *args, **attributes):
    record = OPERATORS[name]
    return type_eagerly(Call(Op(record), args, record.attributes(**attributes)))


@st.composite
def built(draw, pool, size):
    """Grow a pool of tensors by `size` steps; a step that does not type is no step."""
    pool = list(pool)
    for _ in range(size):
        one, other = draw(st.sampled_from(pool)), draw(st.sampled_from(pool))
        try:
            pool.append(draw(step(one, other, pool, size)))
        except RelayError:
            continue
    return pool[-1]


@st.composite
def step(draw, one, other, pool, size):
    kind = draw(st.integers(0, 10))
    match kind:
        case 0 | 1:
            return operator(draw(st.sampled_from(UNARY)), one)
        case 2 | 3:
            return operator(draw(st.sampled_from(BINARY)), one, other)
        case 4:
            return operator("concatenate", Tuple((one, other)), axis=0)
        case 5:
            return operator("transpose", one)
        case 6:
            return operator("sum", one, axis=(0,), keepdims=draw(st.booleans()))
        case 7:
            return RefRead(RefCreate(one))
        case 8:
            return TupleGetItem(Tuple((one, other)), draw(st.integers(0, 1)))
        case 9:
            var = Var("y")
            return Let(var, one, draw(built([*pool, var], size - 1)) if size > 1 else var)
        case _:
            less = operator("less", operator("sum", one), const(1.0))
            return If(less, draw(built(pool, size - 1)) if size > 1 else one, one)


@st.composite
def modules(draw):
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=4))
    params = tuple(Var(f"x{i}", TensorType(shape, "float32")) for i, shape in enumerate(shapes))
    for param in params:
        eager_type(param)
    function = Function(params, draw(built(params, draw(st.integers(1, 6)))))
    if draw(st.booleans()):
        names = tuple(Var(param.name_hint, param.type_annotation) for param in params)
        again = Function(names, GlobalVar("inner")(*names))
        return IRModule({GlobalVar("inner"): function, GlobalVar("main"): refresh(again)})
    return IRModule({GlobalVar("main"): function})


def value(module, arguments):
    """What a program is worth, or which rule its checks raise."""
    try:
        return evaluate(module, arguments)
    except RelayError as error:
        return error.rule


@settings(max_examples=100, deadline=None)
@given(modules(), st.integers(0, 3), st.integers(1, 3))
def test_values_are_of_their_types(module, n, m):
    try:
        infer_type(module)
    except RelayError:
        return  # a branch mismatch, found with the whole program only
    assert well_formed(module) == ()
    numbers = {N: n, M: m, ANY: m + 1}
    random = np.random.default_rng(7)
    shapes = [param.type_annotation.shape for param in module["main"].params]
    arguments = [random.standard_normal([numbers.get(d, d) for d in shape]).astype(np.float32) for shape in shapes]
    typed = value(module, arguments)
    again = infer_type(parse(astext(module), OPERATORS))
    assert str(again["main"].checked_type) == str(module["main"].checked_type)
    back = value(again, arguments)
    if isinstance(typed, str):
        assert typed == back == "extent-mismatch"
    else:
        np.testing.assert_array_equal(typed, back)
        np.testing.assert_array_equal(typed, evaluate(parse(astext(module), OPERATORS), arguments))


def test_a_failing_check_is_not_a_wrong_value():
    x, y = Var("x", TensorType((N, 4), "float32")), Var("y", TensorType((M, 4), "float32"))
    module = infer_type(IRModule.from_expr(Function((x, y), operator("add", x, y))))
    with pytest.raises(RelayError, match="extent-mismatch"):
        evaluate(module, [np.ones((1, 4), np.float32), np.ones((3, 4), np.float32)])
