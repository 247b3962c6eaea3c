"""What normal forms leave as it is, and what they refuse."""

import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.ir.expr import Function, GlobalVar, Let, Match, Var
from relay.ir.traversal import post_order
from relay.ir.types import FuncType, GlobalTypeVar, RefType, TupleType, TypeCall, TypeVar, scalar_type
from relay.normalize.a_normal_form import to_a_normal_form
from relay.normalize.continuation_passing import cps_type, is_cps, to_cps
from relay.normalize.graph_normal_form import to_graph_normal_form

HEADER = '#[version = "0.0.5"]\n'


def main(source: str) -> Function:
    return relay.transform.InferType()(relay.parse(HEADER + source))["main"]


def bound(function: Function) -> list[str]:
    return [node.var.name_hint for node in post_order(function.body) if isinstance(node, Let)]


def test_primitive_functions_keep_their_bodies() -> None:
    function = main("def @main(%x: float32) { let %f = fn (%a: float32, Primitive=1) { exp(exp(%a)) }; exp(%f(%x)) }")
    (primitive,) = [node for node in post_order(function.body) if isinstance(node, Function)]
    assert primitive in list(post_order(to_a_normal_form(function).body))


def test_functions_stay_bound_in_graph_normal_form() -> None:
    source = "def @main(%x: float32) { let %f = fn (%a: float32) { exp(%a) }; let %y = %f(%x); add(%y, %f(%y)) }"
    assert "f" in bound(to_graph_normal_form(main(source)))


def test_an_annotation_that_says_less_than_the_type_stays_bound() -> None:
    source = "def @main(%x: Tensor[(3,), float32]) { let %y: Tensor[(?), float32] = exp(%x); let %z = exp(%y); %z }"
    assert bound(to_graph_normal_form(main(source))) == ["y"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def @main[r](%x: float32, %k: fn (float32) -> r) -> r { %k(%x) }", True),
        ("def @main[r](%x: float32, %k: fn (float32) -> r) -> float32 { %x }", False),
        ("def @main[r](%x: float32, %k: fn (float32, float32) -> r) -> r { %k(%x, %x) }", False),
        ("def @main[r](%k: fn (float32) -> r, %x: float32) -> r { %k(%x) }", False),
        ("def @main(%x: float32, %k: fn (float32) -> float32) -> float32 { %k(%x) }", False),
        ("def @main(%x: float32) -> float32 { %x }", False),
        ("def @main() -> float32 { 1f }", False),
    ],
)
def test_a_function_in_continuation_passing_style_gives_what_its_last_parameter_does(
    source: str, expected: bool
) -> None:
    assert is_cps(main(source)) is expected


def test_data_types_that_hold_functions_have_no_continuation_passing_style() -> None:
    source = "type Step { Next(fn (float32) -> float32) }\ndef @main(%x: float32) { %x }"
    module = relay.transform.InferType()(relay.parse(HEADER + source))
    with pytest.raises(RelayError) as caught:
        to_cps(module["main"], module)
    assert caught.value.rule == "no-cps"


def test_a_choice_of_one_way_hands_on_what_follows() -> None:
    source = """type Box { Full(float32) }
def @main(%b: Box) { let %x = match (%b) { Full(%a) => exp(%a) }; exp(%x) }"""
    module = relay.transform.InferType()(relay.parse(HEADER + source))
    converted = to_cps(module["main"], module)
    (choice,) = [node for node in post_order(converted.body) if isinstance(node, Match)]
    (then,) = [node for node in post_order(converted.body) if isinstance(node, Let) and node.body is choice]
    assert isinstance(then.var, Var)
    assert GlobalVar("main") not in list(post_order(converted.body))


def test_types_in_continuation_passing_style() -> None:
    answer, number = TypeVar("r"), scalar_type("float32")
    function = FuncType((number,), number)
    converted = "fn (float32, fn (float32) -> r) -> r"
    for whole in (TupleType((function, number)), RefType(function), TypeCall(GlobalTypeVar("List"), (function,))):
        assert str(cps_type(whole, answer)) == str(whole).replace(str(function), converted)


def test_a_result_that_is_a_function_is_brought_into_a_normal_form_too() -> None:
    made = to_a_normal_form(main("def @main(%x: float32) { let %y = exp(%x); fn (%z: float32) { add(%y, sin(%z)) } }"))
    assert isinstance(made.body, Let)
    inner = made.body.body
    assert isinstance(inner, Function)
    assert isinstance(inner.body, Let)
