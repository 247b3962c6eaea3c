"""What is typed when it is built, and that inference says the same of it."""

import pytest

from relay.base.diagnostics import RelayError
from relay.infer.eager import eager_type, type_eagerly, typed_by_parts
from relay.infer.infer_type import infer_type_expr
from relay.ir.expr import Call, Function, Let, Op, Tuple, TupleGetItem, Var, const
from relay.ir.types import ANY, IncompleteType, TensorType, TupleType, scalar_type
from relay.ops.table import OPERATORS

INT = scalar_type("int32")


def op(name):
    return Op(OPERATORS[name])


def eager_type_of(expr):
    """The expression, typed."""
    eager_type(expr)
    return expr


def built():
    x, t = Var("x", TensorType((ANY, 4), "int8")), Var("t", TupleType((INT, TensorType((ANY,), "int8"))))
    return {
        "variable": x,
        "constant": const([1.0, 2.0]),
        "tuple": Tuple((x, const(1), Tuple(()))),
        "field": TupleGetItem(Tuple((x, const(1))), 1),
        "field of a field": TupleGetItem(TupleGetItem(Tuple((const(2), Tuple((x, const(1))))), 1), 0),
        "field of a variable": TupleGetItem(t, 1),
        "call": Call(op("nn.relu"), (x,)),
        "call of a field": Call(op("nn.relu"), (TupleGetItem(t, 1),)),
        "call of calls": Call(op("add"), (Call(op("nn.relu"), (x,)), const(1, "int8"))),
    }


@pytest.mark.parametrize("name", built())
def test_eager_typing_and_inference_agree(name):
    eager, inferred = built()[name], built()[name]
    for node in (*getattr(eager, "args", ()), eager):
        _ = type_eagerly(node) if isinstance(node, Call) else eager_type(node)
    assert str(eager.checked_type) == str(infer_type_expr(inferred).checked_type)
    assert infer_type_expr(eager) is eager


def test_an_unknown_extent_of_a_variable_is_one_extent():
    x = Var("x", TensorType((ANY, 4), "int8"))
    both = Tuple((x, x))
    type_ = eager_type(both)
    assert type_.fields[0].shape[0] is type_.fields[1].shape[0] is x.checked_type.shape[0]
    assert eager_type(both) is type_


@pytest.mark.parametrize(
    "open_node",
    [
        Var("x"),
        Var("x", TupleType((INT, IncompleteType()))),
        Tuple((const(1), Var("x"))),
        TupleGetItem(Var("x"), 0),
        Function((), const(1)),
        Call(Var("f"), ()),
    ],
    ids=lambda node: type(node).__name__,
)
def test_what_is_open_waits(open_node):
    assert eager_type(open_node) is None
    assert open_node.checked_type is None
    call = Call(op("nn.relu"), (open_node,))
    assert type_eagerly(call) is call
    assert call.checked_type is None


def test_calls_of_functions_wait():
    call = Call(Function((), const(1)), ())
    assert type_eagerly(call) is call
    assert call.checked_type is None


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: type_eagerly(Call(op("nn.relu"), (Var("x"), Var("y")))), "expected: 1 argument (data)"),
        (lambda: type_eagerly(Call(op("nn.relu"), ())), "found:    0"),
        (lambda: type_eagerly(Call(op("reshape"), (const(1.0),))), "error[missing-attribute]: reshape is called"),
        (lambda: type_eagerly(Call(op("add"), (const([1, 2]), const([1, 2, 3])))), "lhs   Tensor[(2,), int32]"),
        (lambda: eager_type(TupleGetItem(Tuple((const(1),)), 1)), "error[unknown-field]: the tuple has no field 1"),
        (lambda: eager_type(TupleGetItem(Tuple(()), 0)), "expected: a tuple that has fields"),
        (lambda: eager_type(TupleGetItem(const(1), 0)), "error[not-a-tuple]: a field is taken of what is not a tuple"),
    ],
)
def test_what_cannot_be_right_is_refused_at_once(make, text):
    with pytest.raises(RelayError) as refused:
        make()
    assert text in str(refused.value)


def test_what_a_pass_makes_of_typed_parts_is_typed():
    x, pair = Var("x", INT), eager_type_of(Tuple((const(1), const([1.0, 2.0]))))
    made = [Let(eager_type_of(x), const(1), pair), Call(Function((), pair), ()), Function((x,), pair)]
    assert [str(typed_by_parts(each).checked_type) for each in made] == [
        "(int32, Tensor[(2,), float32])",
        "(int32, Tensor[(2,), float32])",
        "fn (int32) -> (int32, Tensor[(2,), float32])",
    ]
    assert typed_by_parts(Let(x, const(1), Var("y"))).checked_type is None


@pytest.mark.parametrize(
    "function",
    [
        Function((Var("x"),), const(1)),
        Function((Var("x"),), const(1), INT),
        Function((eager_type_of(Var("x", INT)), Var("y")), const(1)),
        Function((), Var("x")),
    ],
    ids=["parameter", "declared result", "second parameter", "body"],
)
def test_a_function_of_which_something_is_open_has_no_type(function):
    assert typed_by_parts(function).checked_type is None
