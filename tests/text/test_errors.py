"""Every mistake in a text is shown with its line and a caret. `UPDATE_GOLDEN=1` rewrites the expected messages."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.arith.expr import IntExpr
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Function, Op, Tuple, Var, const
from relay.ir.module import IRModule
from relay.ir.operator import Conflict, Operator
from relay.ir.structural import structural_equal
from relay.text.json import from_json, to_json
from relay.text.module_parser import parse, parse_expr

CASES = sorted((Path(__file__).parent.parent / "golden" / "errors" / "text").glob("*.txt"))


@frozen
class ReshapeAttributes(Attributes):
    newshape: tuple[IntExpr, ...] = ()
    layout: str = "NCHW"


@frozen
class NeedyAttributes(Attributes):
    axis: int


def no_relation(types, attributes):
    return Conflict("none", "these operators are only written and read")


OPERATORS = {
    name: Operator(name, (), no_relation)
    for name in ("add", "subtract", "multiply", "divide", "less", "equal", "negative", "nn.relu", "nn.dense")
}
OPERATORS["reshape"] = Operator("reshape", ("data",), no_relation, ReshapeAttributes)
OPERATORS["needy"] = Operator("needy", ("data",), no_relation, NeedyAttributes)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_message(path):
    source, expected = path.read_text().split("\n=====>\n")
    with pytest.raises(RelayError) as caught:
        parse(source, OPERATORS, "model.relay")
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(f"{source}\n=====>\n{caught.value.render()}\n")
    else:
        assert caught.value.render() + "\n" == expected


def expression(text):
    return parse_expr(f"free_var %a; free_var %b; free_var %c; {text}", OPERATORS)


@pytest.mark.parametrize(
    ("sugar", "plain"),
    [
        ("1*1+1<1 == True", "equal(less(add(multiply(1, 1), 1), 1), True)"),
        ("%a - %b - %c", "subtract(subtract(%a, %b), %c)"),
        ("%a / %b * %c", "multiply(divide(%a, %b), %c)"),
        ("%a + %b * %c", "add(%a, multiply(%b, %c))"),
        ("-%a + -1", "add(negative(%a), -1)"),
        ("--10", "10"),
        ("---10", "-10"),
        ("--%a", "negative(negative(%a))"),
        ("-42i", "-42i32"),
        ("2147483648", "2147483648i64"),
        ("-2147483648", "-2147483648i32"),
        ("reshape(%a, newshape=[2i64, -1i64, 3i])", "reshape(%a, newshape=[2, -1, 3])"),
        ("fn (%x: Tensor[(2i64, n), float], %i: int) { %x }", "fn (%x: Tensor[(2, n), float32], %i: int32) { %x }"),
        ("(let %x = 1; %x, %0 = 2; %0)", "({ let %x = 1; %x }, { %0 = 2; %0 })"),
        ("%a(1)(2)", "(%a(1))(2)"),
        ("%a^ ", "ref_read(%a)"),
        ("(%a := %b + 1)", "ref_write(%a, add(%b, 1))"),
        ("%a.0.1", "((%a).0).1"),
        ("{%a}", "%a"),
        ("%a; %b", "let %_ = %a; %b"),
        ("1 // comment\n + /* and /* another */ */ 2", "add(1, 2)"),
    ],
)
def test_precedence_and_sugar(sugar, plain):
    assert structural_equal(expression(sugar), expression(plain), map_free_vars=True)


def test_the_body_of_a_clause_may_bind():
    head = '#[version = "0.0.5"]\ntype L { Some(int32), None, }\ndef @main(%l: L) { match (%l) {'
    plain = "Some(%x) => { let %y = %x; add(%y, 1) }, None => { %0 = add(1, 1); add(%0, %0) }"
    bare = "Some(%x) => let %y = %x; add(%y, 1), None => %0 = add(1, 1); add(%0, %0),"
    assert structural_equal(parse(f"{head} {bare} }} }}", OPERATORS), parse(f"{head} {plain} }} }}", OPERATORS))


def test_graph_variables_share_and_lets_bind():
    shared = expression("%0 = add(%a, %b); (%0, %0)")
    assert isinstance(shared, Tuple)
    assert shared.fields[0] is shared.fields[1]
    shadowed = expression("let %x = %a; let %x = add(%x, 1); %x")
    assert structural_equal(shadowed, expression("let %x = %a; let %y = add(%x, 1); %y"), map_free_vars=True)
    branches = expression("if (%a) { %0 = add(%b, 1); %0 } else { %0 = add(%b, 2); %0 }")
    assert not structural_equal(branches.true_branch, branches.false_branch, map_free_vars=True)


def test_spans_are_of_the_text():
    module = parse('#[version = "0.0.5"]\ndef @main(%x: int32) {\n  nn.relu(%x)\n}', OPERATORS, "m.relay")
    assert str(module["main"].body.span) == "m.relay:3:3"
    assert module["main"].body.span.width == len("nn.relu(%x)")


def test_modules_and_expressions_have_a_text():
    x = Var("x")
    function = Function((x,), Call(Op(OPERATORS["nn.relu"]), (x,)))
    assert function.astext() == '#[version = "0.0.5"]\nfn (%x) {\n  nn.relu(%x)\n}'
    assert str(IRModule.from_expr(function)) == '#[version = "0.0.5"]\ndef @main(%x) {\n  nn.relu(%x)\n}\n'


GOOD = """#[version = "0.0.5"]
type L[a] { N, C(a, L[a]) }
def @f(%x: Tensor[(n, 2*n), int8]) { %0 = add(%x, 1f).0; (%0, reshape(%0, layout="a")) }"""


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='%@#[](){}=>-<,.:;"\\/*^?_ \nfnxa01le', max_size=40), st.integers(0, len(GOOD)))
def test_no_text_brings_the_parser_down(noise, position):
    for text in (noise, GOOD[:position] + noise + GOOD[position:], GOOD[:position]):
        with suppress(RelayError):
            parse(text, OPERATORS)


STORED = to_json(IRModule.from_expr(Function((Var("x"),), Tuple((const(1), const([1.0, 2.0]))))))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(STORED)), st.integers(0, 10), st.text(alphabet='{}[]",:01abx', max_size=5))
def test_no_json_brings_the_reader_down(position, removed, noise):
    for text in (noise, STORED[:position] + noise + STORED[position + removed :], "[" * 100_000):
        with suppress(RelayError):
            from_json(text, OPERATORS)
