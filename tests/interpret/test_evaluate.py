"""What programs mean."""

import numpy as np
import pytest

from relay.base.diagnostics import RelayError
from relay.infer.infer_type import infer_type
from relay.interpret.evaluate import evaluate
from relay.interpret.values import RefValue
from relay.ir.expr import Call, Function, Op, Var
from relay.ir.operator import Conflict, Operator
from relay.ops.table import OPERATORS
from relay.runtime.values.values import DataValue
from relay.text.module_parser import parse, parse_expr

LIST = "type List[a] { Nil, Cons(a, List[a]) }\n"


def module_of(text):
    return parse(f'#[version = "0.0.5"]\n{text}', OPERATORS, "m.relay")


def both(text, *arguments):
    """The value with types and without: they must agree."""
    plain = evaluate(module_of(text), arguments)
    typed = evaluate(infer_type(module_of(text)), arguments)
    assert show(plain) == show(typed)
    return show(typed)


def show(value):
    match value:
        case tuple():
            return tuple(map(show, value))
        case DataValue(_, constructor, fields):
            return (constructor, *map(show, fields))
        case RefValue(inner):
            return ("ref", show(inner))
        case np.ndarray():
            return value.tolist()
        case _:
            return type(value).__name__


@pytest.mark.parametrize(
    ("program", "arguments", "expected"),
    [
        ("def @main(%x: int32) { (%x + 1, %x * 2) }", (3,), (4, 6)),
        ("def @main(%p: (int32, (float32, bool))) { %p.1.0 }", ((1, (2.5, True)),), 2.5),
        ("def @main(%x: int32) { let %y = %x + 1; let %x = %y * %y; %x - %y }", (2,), 6),
        ("def @main(%c: bool, %x: int32) { %0 = %x * 2; if (%c) { %0 + 1 } else { %0 - 1 } }", (False, 5), 9),
        ("def @fact(%n: int32) -> int32 { if (%n <= 1) { 1 } else { %n * @fact(%n - 1) } }\n"
         "def @main(%n: int32) { @fact(%n) }", (10,), 3628800),
        ("def @main(%x: int32) { let %add = fn (%y: int32) { %x + %y }; (%add(1), %add(10)) }", (5,), (6, 15)),
        ("def @main() { let %twice = fn (%f: fn (int32) -> int32, %x: int32) { %f(%f(%x)) };"
         " %twice(fn (%y: int32) { %y * 3 }, 2) }", (), 18),
        ("def @main(%x: int32) { let %r = ref(%x); ref_write(%r, ref_read(%r) + 1);"
         " ref_write(%r, ref_read(%r) * 2); ref_read(%r) }", (3,), 8),
        ("def @main() { let %r = ref(0); let %tick = fn () { ref_write(%r, ref_read(%r) + 1); ref_read(%r) };"
         " let %t = (%tick(), %tick(), %tick()); (%t, ref_read(%r)) }", (), ((1, 2, 3), 3)),
        ("def @main() { let %r = ref(0); let %tick = fn () { ref_write(%r, ref_read(%r) + 1); ref_read(%r) };"
         " %0 = %tick(); (%0, %0, ref_read(%r)) }", (), (1, 1, 1)),
        (LIST + "def @sum(%l: List[int32]) -> int32 { match (%l) { Nil => 0, Cons(%h, %t) => %h + @sum(%t) } }\n"
         "def @main() { @sum(Cons(1, Cons(2, Cons(3, Nil)))) }", (), 6),
        (LIST + "def @map[a, b](%f: fn (a) -> b, %l: List[a]) -> List[b] {"
         " match (%l) { Nil => Nil, Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)) } }\n"
         "def @main() { @map(fn (%x: int32) { %x * %x }, Cons(2, Cons(3, Nil))) }", (),
         ("Cons", 4, ("Cons", 9, ("Nil",)))),
        (LIST + "def @main(%x: int32) { match ((Cons(%x, Nil), %x)) {"
         " (Cons(%a, Cons(_, _)), _) => %a, (Cons(%a, Nil), %b) => %a + %b, _ => 0 } }", (4,), 8),
        ("def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }\n"
         "def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }\n"
         "def @main() { @even(101) }", (), False),
        ("def @main(%x: Tensor[(n, 2), float32]) { let %loop = fn (%i: int32, %a: Tensor[(k, 2), float32])"
         " -> Tensor[(?, 2), float32] { if (%i == 0) { %a } else { %loop(%i - 1, concatenate((%a, %x), axis=0)) } };"
         " sum(%loop(3, %x)) }", (np.ones((2, 2), np.float32),), 16.0),
    ],
)  # fmt: skip
def test_meaning(program, arguments, expected):
    assert both(program, *arguments) == expected


def test_only_the_branch_taken_is_evaluated_and_shared_work_is_done_once():
    counted = []

    def call(operator, attributes, arguments):
        counted.append(operator.name)
        return operator.meaning(attributes, *arguments)

    module = module_of(
        "def @main(%c: bool, %x: float32) { %0 = exp(%x); if (%c) { %0 + log(%x) } else { %0 * tanh(%x) } }"
    )
    evaluate(module, [True, 1.0], call_operator=call)
    assert counted == ["exp", "log", "add"]


def test_depth_and_length_are_not_limited_by_recursion():
    loop = "def @main(%n: int32, %a: int32) -> int32 { if (%n == 0) { %a } else { @main(%n - 1, %a + 1) } }"
    assert evaluate(module_of(loop), [5_000, 0]).item() == 5_000
    deep = "def @main(%n: int32) -> int32 { if (%n == 0) { 0 } else { 1 + @main(%n - 1) } }"
    assert evaluate(module_of(deep), [5_000]).item() == 5_000
    chain = "".join(f"let %a{i} = %x + 1; " for i in range(20_000))
    assert evaluate(module_of(f"def @main(%x: int32) {{ {chain} %a19999 }}"), [1]).item() == 2


def test_a_program_that_does_not_end_is_stopped():
    forever = module_of("def @main(%x: int32) -> int32 { @main(%x) }")
    with pytest.raises(RelayError, match="step-limit"):
        evaluate(forever, [1], step_limit=1000)


def arrays(*shapes):
    return [np.ones(shape, np.float32) for shape in shapes]


def test_checks_that_inference_left_to_the_run_are_made():
    module = infer_type(
        module_of("def @main(%x: Tensor[(n, 2), float32], %y: Tensor[(m, 2), float32]) { add(%x, %y) }")
    )
    assert evaluate(module, arrays((3, 2), (3, 2))).shape == (3, 2)
    with pytest.raises(RelayError, match="extent-mismatch"):
        evaluate(module, arrays((3, 2), (1, 2)))


def test_a_wrong_annotation_is_an_error_at_run_time():
    text = (
        "def @main(%i: int32, %x: Tensor[(?, 2), float32]) -> Tensor[(4, 2), float32] { concatenate((%x, %x), axis=0) }"
    )
    for module in (module_of(text), infer_type(module_of(text))):
        assert evaluate(module, [0, *arrays((2, 2))]).shape == (4, 2)
        with pytest.raises(RelayError, match="extent-mismatch"):
            evaluate(module, [0, *arrays((3, 2))])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([np.ones((2, 3), np.float64)], "float64 is not float32"),
        ([np.ones((2, 4), np.float32)], "4 is not 3"),
        ([np.ones(3, np.float32)], "rank 1 is not rank 2"),
        ([(1, 2)], "a tuple of 2 is not a tensor"),
        ([], "expected: 1"),
    ],
)
def test_arguments_that_the_parameters_refuse(arguments, message):
    module = infer_type(module_of("def @main(%x: Tensor[(n, 3), float32]) { %x }"))
    with pytest.raises(RelayError, match=message):
        evaluate(module, arguments)


def test_arguments_by_name():
    module = module_of("def @main(%x: int32, %y: int32) { %x - %y }")
    assert evaluate(module, {"y": 1, "x": 5}).item() == 4
    with pytest.raises(RelayError, match="expected: x, y"):
        evaluate(module, {"z": 1, "x": 5})


def test_expressions_with_free_variables():
    expr = parse_expr("free_var %x: int32; %x + 1", OPERATORS)
    assert evaluate(expr, variables={expr.args[0]: 4}).item() == 5
    with pytest.raises(RelayError, match="%x has no value"):
        evaluate(expr)


def test_a_match_without_a_fitting_clause():
    module = module_of(LIST + "def @main() { match? (Nil) { Cons(_, _) => 1 } }")
    with pytest.raises(RelayError, match="no clause of a match fits Nil"):
        evaluate(module)


def test_an_operator_that_is_only_declared():
    declared = Operator("mystery", ("x",), lambda types, attributes: Conflict("none", ""))
    x = Var("x")
    with pytest.raises(RelayError, match="operator-without-meaning"):
        evaluate(Function((x,), Call(Op(declared), (x,))), [1])


@pytest.mark.parametrize(("types", "shapes", "found"), [
    (["(2*n + 1,)"], [(7,)], 3),
    (["(2*n, n)"], [(6, 3)], 3),
    (["(n*m,)", "(2*m,)", "(n + m,)"], [(6,), (6,), (5,)], 2),
])  # fmt: skip
def test_a_symbol_is_found_from_a_multiple_of_it(types, shapes, found):
    parameters = ", ".join(f"%x{i}: Tensor[{type_}, int32]" for i, type_ in enumerate(types))
    text = f'def @main({parameters}) {{ zeros(shape=[n], dtype="int32") }}'
    values = [np.ones(shape, "int32") for shape in shapes]
    assert evaluate(infer_type(module_of(text)), values).shape == (found,)


@pytest.mark.parametrize(("shape", "fact"), [
    ("(2*n,)", r"5 is not 2\*n for any n of 0 or more"),
    ("(n + 9,)", r"5 is not n \+ 9 for any n of 0 or more"),
])  # fmt: skip
def test_no_value_of_a_symbol_fits(shape, fact):
    module = infer_type(module_of(f"def @main(%x: Tensor[{shape}, int32]) {{ %x }}"))
    with pytest.raises(RelayError, match=fact):
        evaluate(module, [np.ones(5, "int32")])


def test_symbolic_attributes_become_numbers():
    module = module_of("def @main(%x: Tensor[(n, 4), float32]) { reshape(%x, newshape=[2*n, 2]) }")
    assert evaluate(infer_type(module), arrays((3, 4))).shape == (6, 2)
