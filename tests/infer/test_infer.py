"""Types of first-order programs, symbolic dimensions, and the messages when there are none."""

import os
from pathlib import Path

import pytest

from relay.base.diagnostics import RelayError
from relay.infer.checks import checks_of
from relay.infer.eager import type_eagerly
from relay.infer.infer_type import infer_type, infer_type_expr
from relay.ir.expr import Call, Function, Op, Tuple, Var, const
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite
from relay.ir.structural import structural_equal
from relay.ir.traversal import post_order
from relay.ir.types import ANY, TensorType, scalar_type
from relay.ir.well_formed import well_formed
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse, parse_expr
from relay.text.printer import astext
from tests.growth import is_linear

CASES = sorted((Path(__file__).parent.parent / "golden" / "errors" / "infer").glob("*.txt"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_message(path):
    source, expected = path.read_text().split("\n=====>\n")
    module = parse(source, OPERATORS, "model.relay")
    with pytest.raises(RelayError) as caught:
        infer_type(module)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(f"{source}\n=====>\n{caught.value.render()}\n")
    else:
        assert caught.value.render() + "\n" == expected
    assert all(node.checked_type is None for f in module.functions.values() for node in post_order(f) if is_inner(node))


def is_inner(node):
    """Constants know their type without inference."""
    return type(node).__name__ not in ("Constant",)


def typed(text):
    return infer_type(parse(f'#[version = "0.0.5"]\n{text}', OPERATORS, "m.relay"))


def type_of(text, name="main"):
    return str(typed(text)[name].checked_type)


LIST = "type List[a] { Nil, Cons(a, List[a]) }\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (  # a function inside one that is not finished has its result, which nothing quantifies
            """def @main(%w: int32) {
              let %loop = fn (%n: int32) {
                if (less(%n, 4)) {
                  let %after = fn (%x: int32) { %loop(%x) };
                  if (less(%n, 2)) { %loop(add(%n, 1)) } else { %after(%n) }
                } else { %n }
              };
              %loop(%w)
            }""",
            "fn (int32) -> int32",
        ),
        (
            "def @main(%x: Tensor[(10, 4), float32], %y: Tensor[(5, 10, 1), float32]) { add(%x, %y) }",
            "fn (Tensor[(10, 4), float32], Tensor[(5, 10, 1), float32]) -> Tensor[(5, 10, 4), float32]",
        ),
        (
            "def @main(%x: Tensor[(n, 784), float32], %w: Tensor[(10, 784), float32]) { nn.dense(%x, %w) }",
            "fn (Tensor[(n, 784), float32], Tensor[(10, 784), float32]) -> Tensor[(n, 10), float32]",
        ),
        (
            "def @main(%x: Tensor[(n, 4), int8]) { concatenate((%x, %x, %x), axis=0) }",
            "fn (Tensor[(n, 4), int8]) -> Tensor[(3*n, 4), int8]",
        ),
        ("def @main(%x: int32, %f) -> int32 { %f(%x) }", "fn (int32, fn (int32) -> int32) -> int32"),
        ("def @main() { let %id = fn [a](%x: a) { %x }; (%id(1), %id(())) }", "fn () -> (int32, ())"),
        ("def @main(%n: int32) { if (%n == 0) { %n } else { @main(%n - 1) } }", "fn (int32) -> int32"),
        (
            "def @main(%c: bool, %x: Tensor[(n, 1), int8], %y: Tensor[(m, 1), int8]) { if (%c) { %x } else { %y } }",
            "fn (bool, Tensor[(n, 1), int8], Tensor[(m, 1), int8]) -> Tensor[(?, 1), int8]",
        ),
        (
            "def @g(%x: Tensor[(k, 2*k), int8]) { %x }\n"
            "def @main(%x: Tensor[(3, 6), int8], %y: Tensor[(m, 2*m), int8]) { (@g(%x), @g(%y)) }",
            "fn (Tensor[(3, 6), int8], Tensor[(m, 2*m), int8]) -> (Tensor[(3, 6), int8], Tensor[(m, 2*m), int8])",
        ),
        (
            "def @main(%x: Tensor[(n, 4), int8]) { let %loop = fn (%i: int32, %a: Tensor[(k, 4), int8])"
            " -> Tensor[(?, 4), int8] { if (%i == 0) { %a }"
            " else { %loop(%i - 1, concatenate((%a, %x), axis=0)) } }; %loop(3, %x) }",
            "fn (Tensor[(n, 4), int8]) -> Tensor[(?, 4), int8]",
        ),
        ("def @main(%x: float32) { let %r = ref(%x); ref_write(%r, 2f); ref_read(%r) }", "fn (float32) -> float32"),
        (
            LIST + "def @len[a](%l: List[a]) -> int32 { match (%l) { Nil => 0, Cons(_, %t) => 1 + @len(%t) } }\n"
            "def @main(%x: Tensor[(n, 4), int8]) { (@len(Cons(%x, Nil)), @len(Nil)) }",
            None,
        ),
        (
            LIST + "def @main(%x: Tensor[(n, 4), int8]) { match (Cons(%x, Nil)) { Cons(%h, _) => %h, Nil => %x } }",
            "fn (Tensor[(n, 4), int8]) -> Tensor[(n, 4), int8]",
        ),
        (
            "def @main(%p: ((int32, float32), int8)) { match (%p) { ((%a, %b), _) => (%b, %a) } }",
            "fn (((int32, float32), int8)) -> (float32, int32)",
        ),
        ("def @even(%n: int32) { if (%n == 0) { True } else { @odd(%n - 1) } }\n"
         "def @odd(%n: int32) { if (%n == 0) { False } else { @even(%n - 1) } }\n"
         "def @main() { @even(4) }", "fn () -> bool"),
    ],
)  # fmt: skip
def test_types(program, expected):
    if expected is None:
        with pytest.raises(RelayError, match="type argument a of @len cannot be found"):
            typed(program)
    else:
        assert type_of(program) == expected


def test_a_recursive_call_prints_its_type():
    text = typed("def @f(%n: int32, %x: float32) { if (%n == 0) { %x } else { @f(%n - 1, log(%x)) } }")
    assert "@f(%1, %2) /* ty=float32 */" in astext(text)


def test_an_unknown_extent_is_the_same_wherever_the_value_is_used():
    module = typed("def @main(%x: Tensor[(?, 4), int8]) { (add(%x, %x), concatenate((%x, %x), axis=0)) }")
    result = module["main"].checked_type.ret_type
    param = module["main"].checked_type.arg_types[0].shape[0]
    assert result.fields[0].shape == (param, 4)
    assert result.fields[1].shape == (2 * param, 4)
    assert checks_of(module) == ()


def test_what_the_prover_cannot_decide_becomes_a_check():
    module = typed("def @main(%x: Tensor[(n, 4), int8], %y: Tensor[(m, 4), int8]) { add(%x, %y) }")
    (found,) = checks_of(module)
    assert found.node is module["main"].body
    assert {str(found.check.condition.left), str(found.check.condition.right)} == {"n", "m"}
    called = typed(
        "def @f(%x: Tensor[(k,), int8], %y: Tensor[(k,), int8]) { %x }\n"
        "def @main(%x: Tensor[(n,), int8], %y: Tensor[(m,), int8]) { @f(%x, %y) }"
    )
    (found,) = checks_of(called)
    assert "an argument of @f" in found.check.message


def test_an_extent_declared_in_a_body_is_found_or_checked():
    module = typed(
        "def @main(%x: Tensor[(n,), int8]) {"
        " let %y: Tensor[(k,), int8] = %x; let %z: Tensor[(5,), int8] = %x; (%y, %z) }"
    )
    assert [str(found.check.condition) for found in checks_of(module)] == ["n == 5"]


@pytest.mark.parametrize(
    ("program", "checks"),
    [
        (
            "def @square(%x: Tensor[(k*k,), int8], %y: Tensor[(k,), int8]) { %x }\n"
            "def @main(%x: Tensor[(n,), int8], %y: Tensor[(m,), int8]) { @square(%x, %y) }",
            ["n == m*m"],
        ),
        ("def @main(%x: Tensor[(n, m), int8]) { let %y: Tensor[(k*k, k), int8] = %x; %y }", ["n == m*m"]),
    ],
)
def test_extents_that_wait_for_a_symbol_are_checked(program, checks):
    assert [str(found.check.condition) for found in checks_of(typed(program))] == checks


def test_only_new_nodes_are_looked_at():
    module = typed("def @main(%x: Tensor[(n, 4), int8]) { %0 = nn.relu(%x); add(%0, %0) }")
    function = module["main"]
    old = function.body.args[0]
    changed = rewrite(function, lambda node: Call(node.op, (old, const(1, "int8"))) if node is function.body else node)
    again = infer_type(module.with_function("main", changed))
    assert str(again["main"].checked_type) == str(function.checked_type)
    assert again["main"].body.args[0] is old
    assert infer_type(again) is again


def test_a_call_is_typed_when_it_is_built():
    x = Var("x", TensorType((ANY, 784), "float32"))
    weight = Var("w", TensorType((10, 512), "float32"))
    relu = type_eagerly(Call(Op(OPERATORS["nn.relu"]), (x,)))
    assert relu.checked_type == x.checked_type
    with pytest.raises(RelayError, match=r"weight   Tensor\[\(10, 512\), float32\]   from parameter %w"):
        type_eagerly(Call(Op(OPERATORS["nn.dense"]), (relu, weight), OPERATORS["nn.dense"].attributes()))
    assert type_eagerly(Call(Op(OPERATORS["nn.relu"]), (Var("y"),))).checked_type is None
    with pytest.raises(RelayError, match="1 argument"):
        type_eagerly(Call(Op(OPERATORS["nn.relu"]), (x, x)))


def test_expressions_with_free_variables():
    expr = parse_expr("free_var %x: Tensor[(n, 4), int8]; (%x, nn.relu(%x))", OPERATORS)
    assert str(infer_type_expr(expr).checked_type) == "(Tensor[(n, 4), int8], Tensor[(n, 4), int8])"


def test_long_programs():
    def program(size):
        lines = ["  %0 = nn.relu(%x);", *(f"  %{i} = add(%{i - 1}, %x);" for i in range(1, 2 * size))]
        lines += [f"  let %a{i} = nn.relu(%{i});" for i in range(size)]
        header = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(n, 4), int8]) {\n'
        return parse(header + "\n".join(lines) + "\n%a7 }", OPERATORS)

    def calls(size):
        lines = [f"  let %v{i} = @same(%{f'v{i - 1}' if i else 'x'});" for i in range(size)]
        same = "def @same(%a: Tensor[(k, 4), int8]) -> Tensor[(k, 4), int8] { %a }\n"
        header = f'#[version = "0.0.5"]\n{same}def @main(%x: Tensor[(n, 4), int8]) {{\n'
        return parse(header + "\n".join(lines) + f"\n%v{size - 1} }}", OPERATORS)

    module = infer_type(program(10_000))
    assert str(module["main"].checked_type.ret_type) == "Tensor[(n, 4), int8]"
    assert is_linear(lambda size: infer_type(program(size)), 300)
    assert is_linear(lambda size: infer_type(calls(size)), 300)


def test_functions_keep_their_types_after_inference():
    x = Var("x", scalar_type("int32"))
    function = Function((x,), Tuple((x, x)))
    assert str(infer_type(IRModule.from_expr(function))["main"].with_attr("Primitive", 1).checked_type) == (
        "fn (int32) -> (int32, int32)"
    )


def test_a_function_without_annotations_is_of_each_programs_types():
    a, b = Var("a"), Var("b")
    double = Function((a, b), Tuple((a, b)))
    for dtype in ("float32", "int32"):
        x = Var("x", scalar_type(dtype))
        called = infer_type(IRModule.from_expr(Function((x,), Call(double, (x, x)))))
        assert str(called["main"].checked_type) == f"fn ({dtype}) -> ({dtype}, {dtype})"
        assert well_formed(called) == ()
    assert double.checked_type is None, "it is nobody's"


def test_sharing_stays_where_functions_are_copied():
    x, y = Var("x", scalar_type("float32")), Var("y")
    shared = Tuple((x,))
    identity = Function((y,), Tuple((y, shared)))
    program = Function((x,), Tuple((shared, Call(identity, (x,)), Call(identity, (shared,)))))
    with pytest.raises(RelayError):
        infer_type(IRModule.from_expr(program))  # one function, of one type
    program = Function((x,), Tuple((shared, Call(identity, (x,)), Call(identity, (x,)))))
    assert structural_equal(infer_type(IRModule.from_expr(program))["main"], program)


def test_a_function_inside_declares_a_result_of_extents_from_around_it() -> None:
    found = type_of(
        "def @main(%x: Tensor[(n), float32]) {"
        " let %f = fn (%p: int32) -> ref(Tensor[(n), float32]) { ref(%x) }; %f(0)^ }"
    )
    assert found == "fn (Tensor[(n,), float32]) -> Tensor[(n,), float32]"
