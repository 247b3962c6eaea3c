"""What lets and definitions quantify, and what stays of one type."""

import pytest

from relay.base.diagnostics import RelayError
from relay.infer.infer_type import infer_type
from relay.infer.unification.generalise import open_leaves, quantified
from relay.infer.unification.unify import Unifier
from relay.ir.expr import Call, Function, Let
from relay.ir.traversal import post_order
from relay.ir.types import FuncType, IncompleteType, TupleType, TypeVar
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse

HEADER = '#[version = "0.0.5"]\ntype List[a] { Nil, Cons(a, List[a]) }\n'


def typed(text):
    return infer_type(parse(HEADER + text, OPERATORS, "m.relay"))


def let_types(text):
    """The types of the variables of lets, by name."""
    nodes = post_order(typed(text)["main"])
    return {node.var.name_hint: str(node.var.checked_type) for node in nodes if isinstance(node, Let)}


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ("let %id = fn (%x) { %x }; (%id(1), %id(2f))", {"id": "fn [a](a) -> a"}),
        ("let %k = fn (%x, %y) { %x }; %k(1, 2f)", {"k": "fn [a, b](a, b) -> a"}),
        ("let %twice = fn (%f, %x) { %f(%f(%x)) }; 1", {"twice": "fn [a](fn (a) -> a, a) -> a"}),
        ("let %id = fn [b](%x: b) -> b { %x }; %id(1)", {"id": "fn [b](b) -> b"}),
        # what gives type parameters has these alone
        ("let %f = fn [b](%x: b, %y) { %y }; %f(1, 2f)", {"f": "fn [b](b, float32) -> float32"}),
        ("let %id: fn [c](c) -> c = fn (%x) { %x }; (%id(1), %id(2f))", {"id": "fn [c](c) -> c"}),
        (
            "let %f = fn (%y: int32) { fn [c](%x: c) { (%x, %y) } }; %f(1)(2f)",
            {"f": "fn (int32) -> fn [c](c) -> (c, int32)"},
        ),
        (
            "let %f = fn (%y: int32) { let %g = fn [c](%n: int32, %x: c) { if (%n == 0) { %x } else { %g(%y, %x) } };"
            " %g(%y, 1) }; %f(1)",
            {"f": "fn (int32) -> int32", "g": "fn [c](int32, c) -> c"},
        ),
        (  # %f quantifies %k wherever it is called, also where a %k is around
            "let %f = fn (%a: Tensor[(k,), int8]) { %a };"
            " let %g = fn (%b: Tensor[(k,), int8], %c: Tensor[(m,), int8]) { %f(%c) }; 1",
            {
                "f": "fn (Tensor[(k,), int8]) -> Tensor[(k,), int8]",
                "g": "fn (Tensor[(k,), int8], Tensor[(m,), int8]) -> Tensor[(m,), int8]",
            },
        ),
        ("let %id: fn (int32) -> int32 = fn (%x) { %x }; %id(1)", {"id": "fn (int32) -> int32"}),
        ("let %f = fn (%x) { add(%x, 1) }; %f(1)", {"f": "fn (int32) -> int32"}),
        (  # the projection waits until the choice says what %t is
            "let %f = fn (%t, %a, %b) { let %p = %t.0; let %q = if (True) { %t } else { (%a, %b) }; %p }; 1",
            {"f": "fn [a, b]((a, b), a, b) -> a", "p": "a", "q": "(a, b)"},
        ),
        ("let %r = ref(fn (%x) { %x }); ref_read(%r)(1)", {"r": "ref(fn (int32) -> int32)"}),
        (
            "let %len = fn (%l) { match (%l) { Nil => 0, Cons(_, %t) => 1 + %len(%t) } }; %len(Cons(1f, Nil))",
            {"len": "fn [a](List[a]) -> int32"},
        ),
        (
            "let %loop = fn (%n: int32, %x) { if (%n == 0) { %x } else { %loop(%n - 1, %x) } }; %loop(3, 1f)",
            {"loop": "fn [a](int32, a) -> a"},
        ),
        (
            "let %map = fn (%f, %l) { match (%l) { Nil => Nil, Cons(%h, %t) => Cons(%f(%h), %map(%f, %t)) } };"
            " %map(fn (%x: int32) { %x == 0 }, Cons(1, Nil))",
            {"map": "fn [a, b](fn (a) -> b, List[a]) -> List[b]"},
        ),
        (  # the run checks that the value is what the annotation says
            "let %f = fn (%x: Tensor[(n, m), int8]) { let %y: Tensor[(3, 4), int8] = %x; %y }; 1",
            {"f": "fn (Tensor[(n, m), int8]) -> Tensor[(3, 4), int8]", "y": "Tensor[(3, 4), int8]"},
        ),
        (  # and of what it leaves open, the value says more
            "let %f = fn (%x: Tensor[(n, m), int8]) { let %y: Tensor[(?, 4), int8] = %x; %y }; 1",
            {"f": "fn (Tensor[(n, m), int8]) -> Tensor[(n, m), int8]", "y": "Tensor[(n, m), int8]"},
        ),
    ],
)
def test_lets(body, types):
    assert let_types(f"def @main() {{ {body} }}") == types


def test_definitions_are_quantified_and_may_be_used_at_several_types():
    module = typed("def @pair(%x, %y) { (%y, %x) }\ndef @main() { (@pair(1, 2f), @pair(2f, True)) }")
    assert str(module["pair"].checked_type) == "fn [a, b](a, b) -> (b, a)"
    assert str(module["main"].checked_type) == "fn () -> ((float32, int32), (bool, float32))"
    calls = [node for node in post_order(module["main"]) if isinstance(node, Call)]
    assert [tuple(map(str, call.type_args)) for call in calls] == [("int32", "float32"), ("float32", "bool")]


def test_functions_that_call_each_other_are_of_one_type_inside_and_quantified_outside():
    module = typed(
        "def @ping(%n: int32, %x) { if (%n == 0) { %x } else { @pong(%n - 1, %x) } }\n"
        "def @pong(%n: int32, %x) { @ping(%n, %x) }\n"
        "def @main() { (@ping(1, 2f), @pong(1, True)) }"
    )
    assert str(module["pong"].checked_type) == "fn [a](int32, a) -> a"
    assert str(module["main"].checked_type) == "fn () -> (float32, bool)"
    (call,) = [node for node in post_order(module["pong"]) if isinstance(node, Call)]
    assert call.type_args == module["ping"].checked_type.type_params


def test_declared_functions_may_call_themselves_at_other_types():
    module = typed(
        "def @f[a](%n: int32, %x: a) -> int32 { if (%n == 0) { 0 } else { @f(%n - 1, (%x, %x)) } }\n"
        "def @main() { @f(2, 1f) }"
    )
    assert str(module["f"].checked_type) == "fn [a](int32, a) -> int32"


def test_what_comes_from_outside_has_one_type():
    nodes = post_order(
        typed("def @main() { let %f = fn (%x) { let %g = fn (%y) { (%x, %y) }; %g(1) }; %f(2f) }")["main"]
    )
    inner, outer = (node.var.checked_type for node in nodes if isinstance(node, Let))
    assert str(outer) == "fn [a](a) -> (a, int32)"
    assert inner.ret_type.fields == (outer.type_params[0], inner.type_params[0])
    assert len(inner.type_params) == 1


def test_a_value_shared_with_the_outside_has_one_type():
    """`%0` is evaluated before the function is made, since what comes after uses it too."""
    with pytest.raises(RelayError) as refused:
        typed(
            "def @main(%g) { %0 = %g(1); let %f = fn (%x) { (%0, %x) };"
            " (%f(1).0 + 1, %f(2f), if (%0) { 1 } else { 2 }) }"
        )
    assert "bool" in str(refused.value)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "fn (%y) { fn [a](%x: a) { let %z: (a, int32) = (%y, 1); %x } }",
            "error[type-parameter-escapes]: %y would be of type a, but a is chosen by each call",
        ),
        ("let %f: fn [a](a) -> a = fn (%x: int32) { %x }; 1", "error[let-type]: the value of %f is of another type"),
        ("let %f: fn (int32) -> bool = fn (%x) { %x }; 1", "the value of %f is of another type: int32 is not bool"),
        (
            "let %loop = fn (%i: int32, %a: Tensor[(k,), int8])"
            " { if (%i == 0) { %a } else { %loop(%i - 1, concatenate((%a, %a), axis=0)) } }; 1",
            "error[recursion-at-other-extents]: %loop calls itself with",
        ),
        (
            "fn (%x: Tensor[(3, 4), int8]) -> Tensor[(m, m), int8] { %x }",
            "error[return-type]: the body of a function is not of the declared type: 4 is not 3",
        ),
        (
            "let %f: fn [a](a) -> a = fn [a](%x: a) -> a { %x }; %f[List](1)",
            "error[type-arity]: the data type List takes another number of type arguments",
        ),
        ("let %x: int32 = 1f; %x", "error[let-type]: the value of %x is of another type: float32 is not int32"),
    ],
)
def test_refusals(body, text):
    with pytest.raises(RelayError) as refused:
        typed(f"def @main() {{ {body} }}")
    assert text in str(refused.value)


def test_a_definition_that_declares_type_parameters_has_no_others():
    with pytest.raises(RelayError, match="the type of %y cannot be found"):
        typed("def @f[a](%x: a, %y) { %x }")


def test_what_a_functions_parameters_do_not_determine_is_unknown_also_when_it_is_found_late():
    module = typed("def @main(%y: Tensor[(n,), int8]) { let %r = ref(fn (%x) { argwhere(%x) }); ref_read(%r)(%y) }")
    (function,) = [node for node in post_order(module["main"].body) if isinstance(node, Function)]
    assert str(function.checked_type) == "fn (Tensor[(n,), int8]) -> Tensor[(?, 1), int32]"


def test_names_of_new_type_parameters_are_free():
    holes = [IncompleteType() for _ in range(28)]
    type_ = quantified(Unifier(), FuncType((TypeVar("b"), *holes), holes[0]), holes, {TypeVar("c")})
    names = [variable.name for variable in type_.type_params]
    assert names[:3] == ["a", "d", "e"]
    assert names[-4:] == ["a1", "b1", "c1", "d1"]
    assert str(type_.ret_type) == "a"


def test_type_variables_that_are_open_are_quantified_as_they_are():
    a, b, hole = TypeVar("a"), TypeVar("b"), IncompleteType()
    unifier = Unifier()
    type_ = FuncType((a, hole), TupleType((hole, b)), ())
    assert open_leaves(unifier, type_) == [a, hole, b]
    assert open_leaves(unifier, type_, {b}) == [a, hole]
    assert str(quantified(unifier, type_, [a, hole], {b})) == "fn [a, c](a, c) -> (c, b)"
    unifier.bind(hole := IncompleteType(), a)
    assert open_leaves(unifier, FuncType((hole,), hole)) == [a]
    assert str(quantified(unifier, FuncType((b,), hole, (b,)), [a])) == "fn [b, a](b) -> a"


def test_a_name_with_a_declared_type_has_no_more_general_one():
    module = typed("""def @same[a](%x: a) -> a { %x }
def @main(%x: float32) { let %f: fn (float32) -> float32 = @same; %f(%x) }""")
    assert str(module["main"].body.var.checked_type) == "fn (float32) -> float32"
