"""Relations of operators: when they are asked, and what becomes of their answers."""

import pytest

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.infer.infer_type import infer_type, infer_type_expr
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Function, If, Let, Op, Tuple, Var, const
from relay.ir.operator import Conflict, Operator, Solved, Waiting
from relay.ir.types import ANY, FuncType, IncompleteType, TensorType, scalar_type
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse

BOOL, INT = scalar_type("bool"), scalar_type("int32")


def tensor(*shape):
    return TensorType(shape, "int8")


def operator(relation, name="test.op", inputs=("a", "b")):
    """An operator, and the types that its relation was asked about."""
    asked = []

    def noted(types, attributes):
        asked.append(tuple(map(str, types)))
        return relation(types)

    return Op(Operator(name, inputs, noted)), asked


def first_of_two(types):
    if isinstance(types[0], IncompleteType):
        return Waiting((0,), "the type of a")
    return Solved(types[0], (), (None, types[0]))


def function_type(params, body):
    return str(infer_type_expr(Function(params, body)).checked_type)


def test_a_relation_may_imply_the_type_of_an_input():
    op, asked = operator(first_of_two)
    x, y = Var("x", INT), Var("y")
    assert function_type((x, y), Call(op, (x, y))) == "fn (int32, int32) -> int32"
    assert asked == [("int32", "_")]


def test_what_is_known_of_an_input_stays():
    op, _ = operator(lambda types: Solved(INT, (), (BOOL, BOOL)))
    x, y = Var("x", INT), Var("y", tensor(2))
    assert function_type((x, y), Call(op, (x, y))) == "fn (int32, Tensor[(2,), int8]) -> int32"


def test_an_input_cannot_be_implied_to_be_two_things():
    op, _ = operator(lambda types: Solved(INT, (), (INT, BOOL)))
    x = Var("x")
    with pytest.raises(RelayError) as refused:
        infer_type_expr(Function((x,), Call(op, (x, x))))
    assert str(refused.value).splitlines()[0] == (
        "error[argument-type]: test.op: b is of another type: int32 is not bool"
    )
    assert refused.value.origins[1].found == "bool"


def test_a_relation_is_asked_again_when_what_it_waits_for_is_known():
    op, asked = operator(first_of_two)
    f, x, y, z = Var("f"), Var("x"), Var("y"), Var("z")
    call = Call(op, (x, y))
    body = Tuple((call, If(const(True), x, const(1)), z))
    inner = Function((x, y, z), body)
    assert str(infer_type_expr(Let(f, inner, f)).checked_type) == ("fn [a](int32, int32, a) -> (int32, int32, a)")
    assert asked == [("_", "_"), ("int32", "_")]


def test_what_a_relation_still_needs_is_told():
    op, asked = operator(lambda types: Waiting((), "more"))
    x, y = Var("x"), Var("y")
    with pytest.raises(RelayError) as refused:
        infer_type_expr(Function((x, y), Call(op, (x, y)), INT))
    assert refused.value.rule == "unresolved-types"
    assert [str(origin) for origin in refused.value.origins] == ["test.op   needs more"]
    assert asked == [("_", "_"), ("_", "_")], "at once, and as the last chance"


def test_extents_that_are_still_to_be_found_are_waited_for():
    op, asked = operator(lambda types: Solved(types[0]), inputs=("a",))
    k, n = Symbol("k"), Symbol("n")
    x, y, z = Var("x", tensor(n, 5)), Var("y", tensor(k * k, ANY)), Var("z", tensor(k))
    call = Call(op, (y,))
    given = Var("given", tensor(3))
    body = Let(y, x, Let(z, given, call))
    assert function_type((x, given), body) == ("fn (Tensor[(n, 5), int8], Tensor[(3,), int8]) -> Tensor[(n, 5), int8]")
    assert len(asked) == 1


def test_what_a_call_gives_may_depend_on_an_extent_that_a_later_line_determines():
    text = """#[version = "0.0.5"]
def @main(%one: Tensor[(1,), float32]) {
  fn (%x) { let %y: Tensor[(k,), float32] = %x; let %s = squeeze(%y); let %z: Tensor[(k,), float32] = %one; %s }
}"""
    type_ = infer_type(parse(text, OPERATORS, "m.relay"))["main"].checked_type
    assert str(type_.ret_type) == "fn (Tensor[(1,), float32]) -> float32"


def test_conflicts_name_the_inputs_that_disagree():
    op, _ = operator(lambda types: Conflict("odd", "b is odd", "even", "odd", "halve it", (1,)))
    x, y = Var("x", INT), Var("y", BOOL)
    with pytest.raises(RelayError) as refused:
        infer_type_expr(Function((x, y), Call(op, (x, y))))
    said = "\n  expected: even\n  found:    odd\n  help: halve it"
    assert str(refused.value) == f"error[odd]: test.op: b is odd\n  b   bool   from parameter %y{said}"
    with pytest.raises(RelayError) as refused:
        infer_type_expr(Function((x, y), Call(Function((f := Var("f", FuncType((INT, BOOL), INT)),), f), (op,))))
    assert str(refused.value) == f"error[odd]: test.op, used as a function: b is odd\n  b   _{said}"


def test_an_operator_without_defaults_is_no_value():
    class Needy(Attributes):
        def __init__(self, size):
            self.size = size

    op = Op(Operator("test.needy", ("a",), lambda types, attributes: Solved(types[0]), Needy))
    with pytest.raises(RelayError) as refused:
        infer_type_expr(Tuple((op,)))
    assert "wrap it in a function: fn (%a) { test.needy(%a, ...) }" in str(refused.value)


def test_each_mention_of_an_operator_has_a_type_of_its_own():
    op, _ = operator(first_of_two, inputs=("a", "b"))
    f, g = (Var(name, FuncType((type_, type_), type_)) for name, type_ in (("f", INT), ("g", BOOL)))
    pair = Call(Function((f, g), Tuple((f, g))), (op, op))
    assert str(infer_type_expr(pair).checked_type) == "(fn (int32, int32) -> int32, fn (bool, bool) -> bool)"


def test_an_operator_as_a_value_waits_for_its_arguments():
    op, asked = operator(first_of_two)
    f, x = Var("f"), Var("x", INT)
    body = Let(f, op, Tuple((Call(f, (x, x)),)))
    assert function_type((x,), body) == "fn (int32) -> (int32,)"
    assert asked[0] == ("_", "_")
