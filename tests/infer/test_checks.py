"""What inference leaves to the run, form by form."""

import pytest

from relay.arith.expr import Symbol
from relay.infer.checks import annotation_checks, checks_of, node_checks
from relay.infer.infer_type import infer_type, infer_type_expr
from relay.ir.expr import Call, Function, GlobalVar, Op, Tuple, Var
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse

LIST = "type Row { Empty, Row(Tensor[(3,), int8], Tensor[(?,), int8]) }\n"


def typed(text):
    return infer_type(parse(f'#[version = "0.0.5"]\n{text}', OPERATORS, "m.relay"))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def @main(%x: Tensor[(n,), int8]) -> Tensor[(n,), int8] { %x }", []),
        (
            "def @main(%x: Tensor[(n,), int8], %y: Tensor[(m,), int8]) { add(%x, %y) }",
            ["Call n == m: axis -1 of one input must be n, as m"],
        ),
        (
            "def @main(%x: Tensor[(?,), int8]) -> Tensor[(4,), int8] { %x }",
            ["Function x_0 == 4: the result of a function has extent x_0, declared 4"],
        ),
        (
            "def @main(%x: Tensor[(n,), int8], %y: Tensor[(?,), int8]) -> Tensor[(n,), int8] { %y }",
            ["Function y_0 == n: the result of a function has extent y_0, declared n"],
        ),
        (
            "def @main() { fn (%x: Tensor[(n,), int8], %y: Tensor[(?,), int8]) -> Tensor[(n,), int8] { %y } }",
            ["Function y_0 == n: the result of a function has extent y_0, declared n"],
        ),
        ("def @main(%x: Tensor[(?,), int8]) -> Tensor[(?,), int8] { %x }", []),
        ("def @main(%x: Tensor[(n,), int8]) -> Tensor[(m,), int8] { %x }", []),
        (
            "def @main(%x: Tensor[(n, 2), int8]) { let %y: Tensor[(5, 2), int8] = %x; %y }",
            ["Let n == 5: the value of %y has extent n, declared 5"],
        ),
        (  # a symbol that the annotation names first is what the value has
            "def @main(%x: Tensor[(n, m), int8]) { let %y: Tensor[(k, k), int8] = %x; %y }",
            ["Let m == n: the value of %y has extent m, declared n"],
        ),
        (
            "def @main(%x: Tensor[(n,), int8], %y: Tensor[(m,), int8])"
            " { let %r = ref(%x); ref_write(%r, %y); ref_read(%r) }",
            ["RefWrite m == n: what a ref is given has extent m, declared n"],
        ),
        (
            f"{LIST}def @main(%x: Tensor[(n,), int8]) {{ Row(%x, %x) }}",
            ["Call n == 3: a field of Row has extent n, declared 3"],
        ),
        (
            "def @f(%x: Tensor[(k,), int8], %y: Tensor[(k,), int8]) -> Tensor[(k,), int8] { %x }\n"
            "def @main(%x: Tensor[(n,), int8], %y: Tensor[(m,), int8]) { @f(%x, %y) }",
            ["Call m == n: an argument of @f has extent m, declared n"],
        ),
        (
            "def @f[a](%x: a, %y: Tensor[(4,), int8]) -> a { %x }\ndef @main(%x: Tensor[(n,), int8]) { @f(%x, %x) }",
            ["Call n == 4: an argument of @f has extent n, declared 4"],
        ),
        (  # what a closure takes from outside is not for its callers to choose
            "def @main(%x: Tensor[(n,), int8], %z: Tensor[(m,), int8]) {"
            " let %f = fn (%y: Tensor[(n,), int8], %w: Tensor[(j,), int8]) { %x }; %f(%z, %z) }",
            ["Call m == n: an argument of %f has extent m, declared n"],
        ),
        (  # a global function's symbols are its own, also where the caller has symbols that are called so
            "def @f(%y: Tensor[(n,), int8]) -> Tensor[(n,), int8] { %y }\n"
            "def @main(%x: Tensor[(n,), int8], %z: Tensor[(m,), int8]) { (@f(%z), @f(%x)) }",
            [],
        ),
    ],
)
def test_checks(program, expected):
    found = checks_of(typed(program))
    assert [f"{type(each.node).__name__} {each.check.condition}: {each.check.message}" for each in found] == expected


def test_the_checks_of_a_function_need_the_module_of_its_callees():
    module = typed(
        "def @f(%x: Tensor[(k,), int8], %y: Tensor[(k,), int8]) -> Tensor[(k,), int8] { %x }\n"
        "def @main(%x: Tensor[(n,), int8], %y: Tensor[(m,), int8]) { @f(%x, %y) }"
    )
    assert [str(each.check.condition) for each in checks_of(module["main"], module)] == ["m == n"]
    assert checks_of(module["main"]) == ()


def test_what_has_no_type_has_no_checks():
    x, y = Var("x"), Var("y", TensorType((3,), "int8"))
    assert node_checks(Call(Op(OPERATORS["add"]), (x, y)), IRModule(), set()) == ()
    assert node_checks(Call(x, (y,)), IRModule(), set()) == ()
    assert annotation_checks(x, y, set()) == ()
    assert annotation_checks(y, x, set()) == ()
    f = infer_type_expr(Function((y,), y))
    assert node_checks(Call(f, (x,)), IRModule(), set()) == ()
    assert node_checks(Function((x,), x, TensorType((3,), "int8")), IRModule(), set()) == ()


def test_a_callee_may_be_any_expression():
    x, y = Var("x", TensorType((Symbol("n"),), "int8")), Var("y", TensorType((3,), "int8"))
    call = Call(Function((y,), Tuple((y,))), (x,))
    infer_type_expr(call)
    (check,) = node_checks(call, IRModule(), set())
    assert str(check.condition) == "n == 3"


def test_symbols_of_a_global_are_its_own_and_those_around_a_closure_are_not():
    """Where both are called by someone who has the same symbol."""
    n, m = Symbol("n"), Symbol("m")
    x, y, inner = (Var(name, TensorType((n,), "int8")) for name in ("x", "y", "inner"))
    other = Var("other", TensorType((m,), "int8"))
    f = GlobalVar("f")
    same = infer_type(IRModule({f: Function((y,), y, y.type_annotation)}))
    module = infer_type(same.with_function("main", Function((x, other), Call(f, (other,)))))
    assert checks_of(module) == ()
    closure = Function((inner,), inner)
    module = infer_type(IRModule.from_expr(Function((x, other), Tuple((x, Call(closure, (other,)))))))
    assert [str(each.check.condition) for each in checks_of(module)] == ["m == n"]
