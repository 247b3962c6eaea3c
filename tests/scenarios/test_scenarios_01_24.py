"""Scenarios 1 to 24 of what the published Relay does: the language, its types, and what programs are worth.

What is about native execution runs in the reference interpreter here.
"""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.analysis import check_kind, free_vars, structural_equal, structural_hash, unmatched_cases, well_formed
from relay.base.diagnostics import RelayError
from relay.infer.exhaustiveness import show_pattern
from relay.infer.infer_type import infer_type, infer_type_expr
from relay.infer.unification.join import join
from relay.infer.unification.unify import Mode, Unifier
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Function,
    GlobalVar,
    Let,
    Match,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Tuple,
    Var,
    const,
)
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ir.types import (
    ANY,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    Kind,
    RefType,
    TensorType,
    TupleType,
    TypeCall,
    TypeVar,
    scalar_type,
)
from relay.ops.table import OPERATORS
from relay.runtime.values.values import DataValue
from relay.testing import dcgan, densenet, dqn, inception_v3, mlp, mobilenet, resnet, squeezenet, vgg
from relay.text import module_parser
from tests.lower.interpreting import run_as_text

INT, BOOL = scalar_type("int32"), scalar_type("bool")


def module_of(text):
    return relay.parse(f'#[version = "0.0.5"]\n{text}')


def untyped(text):
    return module_parser.parse(f'#[version = "0.0.5"]\n{text}', OPERATORS)


def type_of(text, name="main"):
    return str(module_of(text)[name].checked_type)


def run(text, *arguments):
    """The value of `@main`; the interpreter of the program that it is lowered to agrees."""
    expected = meant(text, *arguments)
    assert plain(run_as_text(module_of(text))(*arguments)) == expected
    return expected


def meant(text, *arguments):
    return plain(relay.create_executor("interpreter", mod=module_of(text)).evaluate()(*arguments))


def plain(value):
    """A value as Python has it: numbers, tuples, lists; other data as (constructor, fields...)."""
    match value:
        case np.ndarray():
            return value.tolist()
        case tuple():
            return tuple(map(plain, value))
        case DataValue(type_name="List"):
            return list(map(plain, value))
        case DataValue(_, constructor, fields):
            return (constructor, *map(plain, fields))
        case _:
            return value


def as_list(*items):
    return f"Cons({items[0]}, {as_list(*items[1:])})" if items else "Nil"


# ------------------------------------------------------------------------------------------------- language


def test_scenario_01_functions_are_equal_up_to_names():
    def function(first, second, swapped=False):
        x, y = Var(first), Var(second)
        return Function((x, y), Tuple((y, x) if swapped else (x, y)))

    assert structural_equal(function("x", "y"), function("a", "b"))
    assert structural_hash(function("x", "y")) == structural_hash(function("a", "b"))
    assert not structural_equal(function("x", "y"), function("x", "y", swapped=True))
    assert not structural_equal(Var("x"), Var("x"))
    assert structural_equal(Var("x"), Var("x"), map_free_vars=True)
    x, y = Var("x"), Var("y")
    assert structural_equal(Let(x, const(1), x), Let(y, const(1), y))
    assert not structural_equal(Let(x, const(1), x), Let(y, const(2), y))


def test_scenario_02_sharing_counts():
    x = Var("x", INT)
    shared = Tuple((x,))
    assert not structural_equal(Function((x,), Tuple((shared, shared))), Function((x,), Tuple((shared, Tuple((x,))))))


def test_scenario_03_matches_are_equal_clause_by_clause():
    head = "type Flag { On, Off }\ndef @main(%x: Flag) "
    one = untyped(head + "{ match (%x) { On => 1, Off => 0 } }")
    assert structural_equal(one, untyped(head + "{ match (%x) { On => 1, Off => 0 } }"))
    for other in (
        "{ match (%x) { Off => 0, On => 1 } }",
        "{ match? (%x) { On => 1, Off => 0 } }",
        "{ match (%x) { Off => 1, On => 0 } }",
        "{ match (%x) { On => 1, _ => 0 } }",
    ):
        assert not structural_equal(one, untyped(head + other))


@pytest.mark.parametrize(
    "build",
    [mlp.get_workload, resnet.get_workload, mobilenet.get_workload, dqn.get_workload, dcgan.get_workload,
     squeezenet.get_workload, vgg.get_workload],
    ids=lambda build: build.__module__.rpartition(".")[2],
)  # fmt: skip
def test_scenario_04_networks_come_back_from_their_text(build):
    arguments = (1,) if build in (dqn.get_workload, dcgan.get_workload) else (1, 10)
    module, _ = build(*arguments)
    assert structural_equal(relay.parse(module.astext()), module)


@pytest.mark.parametrize("build", [inception_v3.get_workload, densenet.get_workload], ids=["inception", "densenet"])
def test_scenario_04_larger_networks_come_back_from_their_text(build):
    module, _ = build()
    assert structural_equal(module_parser.parse(module.astext(), OPERATORS), module)


def test_scenario_04_the_prelude_comes_back_from_its_text():
    module = infer_type(relay.Prelude().mod)
    again = relay.parse(module.astext())
    assert structural_equal(again, module)
    assert again.astext() == module.astext()
    assert len(module.functions) > 40


@pytest.mark.parametrize(
    ("sugar", "meaning"),
    [
        ("1 * 1 + 1 < 1 == True", "equal(less(add(multiply(1, 1), 1), 1), True)"),
        ("10 - 5 - 2", "subtract(subtract(10, 5), 2)"),
        ("-(1 + 2)", "negative(add(1, 2))"),
        ("1 + 2 * 3", "add(1, multiply(2, 3))"),
    ],
)
def test_scenario_05_operators_bind_as_usual(sugar, meaning):
    assert structural_equal(relay.parse_expr(sugar), relay.parse_expr(meaning))


def test_scenario_05_calls_may_be_curried():
    assert run("def @main() { let %add = fn (%x: int32) { fn (%y: int32) { %x + %y } }; %add(1)(2) }") == 3


def test_scenario_06_graph_variables_share_and_lets_bind():
    graph = relay.parse_expr("%0 = (1, 2); (%0, %0)")
    assert graph.fields[0] is graph.fields[1]
    bound = relay.parse_expr("let %x = (1, 2); (%x, %x)")
    assert isinstance(bound, Let)
    shadowed = run("def @main() { let %x = 1; let %y = { let %x = 2; %x }; (%x, %y) }")
    assert shadowed == (1, 2)
    with pytest.raises(RelayError, match="unbound-variable"):
        untyped("def @main(%c: bool) { if (%c) { let %x = 1; %x } else { %x } }")
    assert isinstance(relay.parse_expr("1; 2"), Let)


@pytest.mark.parametrize(
    "text",
    ["type A { X }\ntype A { Y }", "type A { X }\ntype B { X }", "def @f() { 1 }\ndef @f() { 2 }"],
)
def test_scenario_07_what_is_defined_twice_is_an_error_with_its_place(text):
    with pytest.raises(RelayError, match="duplicate-name") as caught:
        untyped(text)
    assert caught.value.span.line == 3


def test_scenario_08_the_text_is_short_and_in_order():
    x = relay.var("x", shape=(1, 3, 8, 8))
    conv = relay.nn.conv2d(x, relay.var("w", shape=(4, 3, 3, 3)), channels=4, kernel_size=(3, 3))
    function = Function(free_vars(conv), relay.nn.relu(conv))
    text = function.astext(show_types=False)
    assert text.index("nn.conv2d") < text.index("nn.relu")
    assert "data_layout" not in text
    constant = Function((), relay.nn.relu(const(np.zeros((3,), np.float32))))
    assert "#[metadata]" in constant.astext()
    assert "#[metadata]" not in constant.astext(show_meta_data=False)
    assert "%v1" in Function((one := Var("1"),), one).astext()


def test_scenario_09_a_variable_is_bound_once_and_used_in_scope():
    x = Var("x")
    twice = Let(x, const(1), Let(x, const(2), x))
    assert [reason.rule for reason in well_formed(twice)] == ["bound-twice"]
    shared = Let(x, const(1), x)
    assert well_formed(Function((), Tuple((shared, shared)))) == ()
    clause = untyped("type Box[a] { Box(a) }\ndef @main(%b: Box[int32]) { match (%b) { Box(%x) => %x } }")
    assert well_formed(clause) == ()
    body = clause["main"].body
    escaped = Function(clause["main"].params, Tuple((body, body.clauses[0].lhs.patterns[0].var)))
    assert [reason.rule for reason in well_formed(IRModule.from_expr(escaped))] == ["out-of-scope"]


# ---------------------------------------------------------------------------------------------------- types


def test_scenario_10_broadcast():
    text = "def @main(%x: Tensor[(10, 4), float32], %y: Tensor[(5, 10, 1), float32]) { %x + %y }"
    assert type_of(text).endswith("-> Tensor[(5, 10, 4), float32]")


def test_scenario_11_recursion():
    module = module_of("def @f(%n: int32, %data: float32) { if (%n == 0) { %data } else { @f(%n - 1, log(%data)) } }")
    assert str(module["f"].checked_type) == "fn (int32, float32) -> float32"
    assert "@f(%1, %2) /* ty=float32 */" in module.astext()


def test_scenario_12_incomplete_annotations():
    assert type_of("def @main(%x: int32, %f) -> int32 { %f(%x) }") == "fn (int32, fn (int32) -> int32) -> int32"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def @main() { let %id = fn [a](%x: a) -> a { %x }; (%id(1), %id(())) }", "fn () -> (int32, ())"),
        ("def @main() { let %id = fn (%x) { %x }; (%id(1), %id(())) }", "fn () -> (int32, ())"),
        ("def @apply[a, b](%f: fn (a) -> b, %x: a) -> b { %f(%x) }\n"
         "def @main(%x: float32) { @apply(@id, %x) }", "fn (float32) -> float32"),
        ("def @twice(%f, %x) { %f(%f(%x)) }\ndef @main() { (@twice(fn (%x) { %x * 2 }, 1), @twice(@id, True)) }",
         "fn () -> (int32, bool)"),
        ("def @main(%f: fn [a](a) -> a) { (%f(1), %f(2f)) }", "fn (fn [a](a) -> a) -> (int32, float32)"),
        ("def @main() { @id(@id)(1) }", "fn () -> int32"),
        ("def @main(%x) { fn (%y) { (%x, %y) } }", "fn [a, b](a) -> fn (b) -> (a, b)"),
    ],
)  # fmt: skip
def test_scenario_13_polymorphism(text, expected):
    assert type_of(text) == expected


def test_scenario_13_type_arguments_are_filled_in():
    module = module_of("def @main() { @map(fn (%x: int32) { (%x, True) }, Cons(1, Nil)) }")
    call = module["main"].body
    assert list(map(str, call.type_args)) == ["int32", "(int32, bool)"]
    given = module_of("def @main() { @length[bool](Nil) }")["main"].body
    assert list(map(str, given.type_args)) == ["bool"]
    assert "@length[bool]" in given.astext()
    assert "@map[" not in call.astext()


def test_scenario_14_data_types():
    box = "type Box[a] { Box(a) }\n"
    inferred = infer_type_expr(
        Function((), module_of(box + "def @main() { 1 }").constructors()[0]), module_of(box + "def @main() { 1 }")
    )
    assert str(inferred.checked_type) == "fn () -> fn [a](a) -> Box[a]"
    assert type_of(box + "def @main(%b) { match (%b) { Box(%x: int32) => %x } }") == "fn (Box[int32]) -> int32"
    assert type_of(box + "def @main(%b) { match (%b) { Box(%x) => %x } }") == "fn [a](Box[a]) -> a"


def test_scenario_15_branches_that_differ_have_unknown_extents():
    one, other = TensorType((ANY, 1), "float32"), TensorType((ANY, ANY), "float32")
    assert str(join(Unifier(), one, other)) == "Tensor[(?, ?), float32]"
    text = (
        "def @main(%c: bool, %x: Tensor[(?, 1), float32], %y: Tensor[(?, 1), float32]) { if (%c) { %x } else { %y } }"
    )
    assert type_of(text).endswith("-> Tensor[(?, 1), float32]")


def test_scenario_16_the_solver():
    assert type_of(
        "def @main(%x, %y: Tensor[(2, 3), float32]) { let %z = (%x, %y); if (True) { %x } else { %y } }"
    ) == ("fn (Tensor[(2, 3), float32], Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32]")
    unifier, hole = Unifier(), IncompleteType()
    assert unifier.relate(TupleType((hole, INT)), TupleType((TupleType((INT,)), IncompleteType())), Mode.EXACT) is None
    assert str(unifier.zonk(hole)) == "(int32,)"
    assert "cannot contain itself" in Unifier().relate(hole, TupleType((hole,)), Mode.EXACT).fact
    a, b, c, d = map(TypeVar, "abcd")
    one = FuncType((a, b), a, (a, b))
    assert Unifier().relate(one, FuncType((c, d), c, (d, c)), Mode.EXACT) is None
    assert Unifier().relate(one, FuncType((c, d), d, (c, d)), Mode.EXACT) is not None
    assert Unifier().relate(one, FuncType((c, c), c, (c, d)), Mode.EXACT) is not None
    nested = FuncType((FuncType((a, b), a, (b,)),), a, (a,))
    assert Unifier().relate(nested, FuncType((FuncType((c, d), c, (d,)),), c, (c,)), Mode.EXACT) is None


LIST = GlobalTypeVar("List")
ELEMENT = TypeVar("a")
KINDS = IRModule().with_type(
    TypeData(LIST, (ELEMENT,), (Constructor("Nil", (), LIST), Constructor("Wrap", (ELEMENT,), LIST, 1)))
)
TYPE, SHAPE, BASE = TypeVar("t"), TypeVar("s", Kind.SHAPE_VAR), TypeVar("d", Kind.BASE_TYPE)
CONSTRAINT = TypeVar("c", Kind.CONSTRAINT)


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (TYPE, Kind.TYPE),
        (SHAPE, Kind.SHAPE_VAR),
        (CONSTRAINT, Kind.CONSTRAINT),
        (TensorType((3, ANY), "int8"), Kind.TYPE),
        (TupleType((TYPE, INT)), Kind.TYPE),
        (FuncType((TYPE,), TupleType((INT,)), (TYPE,)), Kind.TYPE),
        (RefType(FuncType((INT,), INT)), Kind.TYPE),
        (LIST, Kind.ADT_HANDLE),
        (TypeCall(LIST, (TupleType(()),)), Kind.TYPE),
        (KINDS.type_definitions[LIST], Kind.TYPE_DATA),
        (TupleType((BASE,)), "field 0 of a tuple must be a type"),
        (FuncType((INT, SHAPE), INT), "parameter 1 of a function type must be a type"),
        (FuncType((INT,), CONSTRAINT), "the result of a function type must be a type"),
        (FuncType((INT,), TupleType((INT, SHAPE))), "field 1 of a tuple must be a type"),
        (RefType(SHAPE), "the content of a ref must be a type"),
        (TypeCall(GlobalTypeVar("v", Kind.TYPE), (INT,)), "v is applied to type arguments"),
        (TypeCall(TYPE, TYPE), "t is applied to type arguments"),
        (TypeCall(INT, (INT,)), "int32 is applied to type arguments"),
        (TypeCall(LIST, (BASE,)), "argument 0 of List must be a type"),
        (TypeCall(LIST, (INT, INT)), "another number of type arguments"),
        (TupleType((TypeCall(GlobalTypeVar("Heap"), ()),)), "does not define the data type Heap"),
    ],
)
def test_scenario_17_kinds(type_, kind):
    if isinstance(kind, Kind):
        assert check_kind(type_, KINDS) is kind
    else:
        with pytest.raises(RelayError, match=kind):
            check_kind(type_, KINDS)


def missing(patterns, types="type Flag { On, Off }"):
    """What a match with these clauses leaves out."""
    clauses = ", ".join(f"{pattern} => 1" for pattern in patterns)
    module = untyped(types + f"\ndef @main(%x) {{ match (%x) {{ {clauses} }} }}")
    return [show_pattern(pattern) for pattern in unmatched_cases(module["main"].body, module)]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["Nil", "Cons(_, _)"], []),
        (["Nil", "Cons(_, Nil)"], ["Cons(_, Cons(_, _))"]),
        (["Cons(_, Cons(_, _))"], ["Cons(_, Nil)", "Nil"]),
        (["(On, _)", "(_, On)"], ["(Off, Off)"]),
        (["(On, Nil)", "(Off, Cons(On, %r))"], ["(On, Cons(_, _))", "(Off, Cons(Off, _))", "(Off, Nil)"]),
        (["((On, On), On)", "(_, On)"], ["((On, On), Off)", "((On, Off), Off)", "((Off, _), Off)"]),
        (["Some(Cons(On, Nil))", "None"], ["Some(Cons(On, Cons(_, _)))", "Some(Cons(Off, _))", "Some(Nil)"]),
        (["Rose(_, Nil)", "Rose(_, Cons(Rose(_, _), _))"], []),
        (["S(S(S(Z)))"], ["Z", "S(Z)", "S(S(Z))", "S(S(S(S(_))))"]),
        (["%y"], []),
    ],
)
def test_scenario_18_unmatched_cases(patterns, expected):
    assert missing(patterns) == expected


def test_scenario_18_an_incomplete_match_is_an_error_unless_it_may_fail():
    clauses = "{ Cons(%h, Nil) => %h, Nil => 0 } }"
    with pytest.raises(RelayError, match=r"no clause for Cons\(_, Cons\(_, _\)\)"):
        module_of("def @main(%l: List[int32]) { match (%l) " + clauses)
    assert type_of("def @main(%l: List[int32]) { match? (%l) " + clauses) == "fn (List[int32]) -> int32"
    assert (
        unmatched_cases(Match(Var("x"), (Clause(PatternTuple((PatternWildcard(), PatternVar(Var("y")))), Var("z")),)))
        == ()
    )
    unknown = Clause(PatternConstructor(Constructor("Nope", (), GlobalTypeVar("None"))), const(1))
    with pytest.raises(RelayError, match="unknown-type"):
        unmatched_cases(Match(Var("x"), (unknown,)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def @f(%x: int32) { %x }\ndef @main() { @f(1, 2) }", "error\\[arity\\]"),
        ("def @f(%x: int32, %y: int32) { %x }\ndef @main() { @f(1) }", "error\\[arity\\]"),
        ("def @main(%x: Tensor[(3, 4), float32], %y: Tensor[(5, 4), float32]) { add(%x, %y) }",
         r"(?s)add.*Tensor\[\(3, 4\), float32\].*Tensor\[\(5, 4\), float32\]"),
        ("def @f(%p: (int32, List[float32])) { 1 }\ndef @main(%p: (int32, List[bool])) { @f(%p) }",
         r"(?s)bool is not float32 \(in argument 0 of List of field 1\).*from parameter %p, line 3.*from @f"),
    ],
)  # fmt: skip
def test_scenario_19_errors_name_what_disagrees(text, message):
    with pytest.raises(RelayError, match=message):
        module_of(text)


# ------------------------------------------------------------------------------------------------ evaluation

NUMBERS = as_list(1, 2, 3, 4)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("@id(5)", 5),
        ("@compose(fn (%x: int32) { %x * 2 }, fn (%x: int32) { %x + 1 })(3)", 8),
        ("@flip(fn (%x: int32, %y: int32) { %x - %y })(1, 10)", 9),
        ("@iterate(fn (%x: int32) { %x * 2 }, 5)(1)", 32),
        (f"@hd({NUMBERS})", 1),
        (f"@tl({NUMBERS})", [2, 3, 4]),
        (f"@nth({NUMBERS}, 2)", 3),
        (f"@update({NUMBERS}, 1, 9)", [1, 9, 3, 4]),
        (f"@length({NUMBERS})", 4),
        ("@length[bool](Nil)", 0),
        (f"@map(fn (%x: int32) {{ %x * %x }}, {NUMBERS})", [1, 4, 9, 16]),
        (f"@map(negative, {NUMBERS})", [-1, -2, -3, -4]),
        (f"@foldl(fn (%a: int32, %x: int32) {{ %a * 10 + %x }}, 0, {NUMBERS})", 1234),
        (f"@foldl(subtract, 0, {NUMBERS})", -10),
        (f"@foldr(fn (%x: int32, %a: int32) {{ %a * 10 + %x }}, 0, {NUMBERS})", 4321),
        (f"@foldr1(subtract, {NUMBERS})", -2),
        (f"@sum({NUMBERS})", 10),
        (f"@concat({NUMBERS}, {as_list(7)})", [1, 2, 3, 4, 7]),
        (f"@filter(fn (%x: int32) {{ %x > 2 }}, {NUMBERS})", [3, 4]),
        (f"@zip({NUMBERS}, {as_list('True', 'False')})", [(1, True), (2, False)]),
        (f"@rev({NUMBERS})", [4, 3, 2, 1]),
        (f"@map_accumr(fn (%a: int32, %x: int32) {{ (%a + %x, %a * %x) }}, 0, {NUMBERS})", (10, [9, 14, 12, 0])),
        (f"@map_accuml(fn (%a: int32, %x: int32) {{ (%a + %x, %a * %x) }}, 0, {NUMBERS})", (10, [24, 9, 2, 0])),
        ("@unfoldr(fn (%n: int32) { if (%n > 3) { None } else { Some((%n + 1, %n * %n)) } }, 0)", [0, 1, 4, 9]),
        ("@unfoldl(fn (%n: int32) { if (%n > 3) { None } else { Some((%n + 1, %n * %n)) } }, 0)", [9, 4, 1, 0]),
        ("@size(Rose(1, Cons(Rose(2, Nil), Cons(Rose(3, Cons(Rose(4, Nil), Nil)), Nil))))", 4),
        ("@tmap(fn (%x: int32) { %x + 1 }, Rose(1, Cons(Rose(2, Nil), Nil)))", ("Rose", 2, [("Rose", 3, [])])),
        ("@nat_add(S(S(Z)), S(Z))", ("S", ("S", ("S", ("Z",))))),
        ("@nat_double(S(Z))", ("S", ("S", ("Z",)))),
        (f"@nat_nth({NUMBERS}, S(S(Z)))", 3),
        (f"@nat_update({NUMBERS}, S(Z), 9)", [1, 9, 3, 4]),
        ("@nat_iterate(fn (%x: int32) { %x * 2 }, S(S(S(Z))))(1)", 8),
        ("@replicate(3, 7)", [7, 7, 7]),
        ("@tabulate(fn (%i: int32) { %i * %i }, 4)", [0, 1, 4, 9]),
        ("@tensor_array_read(@tensor_array_write(@tensor_array(3), 1, 2.5f), 1)", 2.5),
        ("@tensor_array_concat[Tensor[(?,), int32]](fn (%x: Tensor[(?,), int32], %y: Tensor[(?,), int32]) ->"
         " Tensor[(?,), int32] { concatenate((%x, %y), axis=0) }, @tensor_array_write(@tensor_array_write("
         "@tensor_array[Tensor[(?,), int32]](2), 1, zeros(shape=[1], dtype=\"int32\")), 0,"
         " ones(shape=[2], dtype=\"int32\")))", [1, 1, 0]),
        ("@tensor_array_gather(@tensor_array_scatter(@tensor_array(4), Cons(3, Cons(0, Nil)), Cons(True, Cons(False,"
         " Nil))), Cons(0, Cons(1, Cons(3, Nil))))", [("Some", False), ("None",), ("Some", True)]),
    ],
)  # fmt: skip
def test_scenario_20_the_prelude(expression, expected):
    assert run(f"def @main() {{ {expression} }}") == expected


def test_scenario_20_an_operator_that_nothing_is_known_of_is_a_value():
    """In its meaning: programs that are lowered do not hold operators yet."""
    assert meant(f"def @main() {{ @foldr(subtract, 0, {NUMBERS}) }}") == -2


def test_scenario_20_tensor_arrays_hold_tensors_of_any_type():
    text = (
        "def @main(%x: Tensor[(n, 2), float32]) {"
        " let %take = fn (%t: Tensor[(n, 2), float32], %i: int32) { take(%t, %i, axis=0) };"
        " let %array = @tensor_array_unstack(%take, 3, %x);"
        " let %expand = fn (%t: Tensor[(2,), float32]) -> Tensor[(?, 2), float32] { expand_dims(%t, axis=0) };"
        " let %join = fn (%a: Tensor[(?, 2), float32], %b: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32]"
        " { concatenate((%a, %b), axis=0) };"
        " @tensor_array_stack(%expand, %join, @rev(%array)) }"
    )
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert run(text, rows) == rows[::-1].tolist()


def test_scenario_20_partial_functions_say_where_they_fail():
    for expression in ("@hd[int32](Nil)", "@nth(Cons(1, Nil), 3)", "@tensor_array_read[int32](@tensor_array(1), 0)"):
        with pytest.raises(RelayError, match="no-clause-fits"):
            run(f"def @main() {{ {expression} }}")


TICK = "let %r = ref(0); let %tick = fn () { ref_write(%r, ref_read(%r) + 1); ref_read(%r) };"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (f"{TICK} let %t = (%tick(), %tick()); (%t, ref_read(%r))", ((1, 2), 2)),
        (f"{TICK} let %m = match (Some(%tick())) {{ Some(%x) => %x * 10, None => 0 }}; (%m, ref_read(%r))", (10, 1)),
        (f"{TICK} let %s = %tick() - %tick() * 10; (%s, ref_read(%r))", (-19, 2)),
        (f"{TICK} let %f = fn (%a: int32, %b: int32) {{ (%b, %a) }}; %f(%tick(), %tick())", (2, 1)),
        (f"{TICK} %0 = %tick(); let %c = if (%0 == 1) {{ %tick() }} else {{ 100 }}; (%0, %c, ref_read(%r))", (1, 2, 2)),
    ],
)
def test_scenario_21_effects_happen_once_and_in_order(program, expected):
    assert run(f"def @main() {{ {program} }}") == expected


GROW = (
    "def @main(%x: Tensor[(1, 2), float32], %n: int32) {{ let %loop = fn (%i: int32, %a: Tensor[(?, 2), float32])"
    " -> Tensor[{shape}, float32] {{ if (%i == 0) {{ %a }}"
    " else {{ %loop(%i - 1, concatenate((%a, %x), axis=0)) }} }}; %loop(%n, %x) }}"
)


def test_scenario_22_tensors_grow_in_a_loop():
    x = np.ones((1, 2), np.float32)
    assert len(run(GROW.format(shape="(?, 2)"), x, 5)) == 6
    with pytest.raises(RelayError, match=r"extent-mismatch|argument-type"):
        run(GROW.format(shape="(3, 2)"), x, 5)


def test_scenario_23_every_way_to_run_a_program_agrees():
    text = "def @main(%x: Tensor[(2, 3), float32]) { nn.relu(%x) * %x }"
    x = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
    module = module_of(text)
    results = [
        relay.create_executor(kind, mod=program).evaluate()(x)
        for kind in ("interpreter", "debug", "graph", "aot", "vm")
        for program in (module, relay.parse(module.astext()), infer_type(untyped(text)))
    ]
    for result in results:
        np.testing.assert_array_equal(result, np.maximum(x, 0) * x)


def test_scenario_24_closures_keep_what_they_use():
    program = (
        "def @main(%n: int32) { let %loop = fn (%i: int32, %fs: List[fn (int32) -> int32]) -> List[fn (int32) -> int32]"
        " { if (%i == %n) { %fs } else { %loop(%i + 1, Cons(fn (%x: int32) { %x * %i + %n }, %fs)) } };"
        " @map(fn (%f: fn (int32) -> int32) { %f(10) }, %loop(0, Nil)) }"
    )
    assert run(program, 3) == [23, 13, 3]
    adder = relay.create_executor(
        "interpreter", mod=module_of("def @main(%x: int32) { fn (%y: int32) { %x + %y } }")
    ).evaluate()(5)
    assert plain(adder(3)) == 8


def test_functions_data_and_refs_go_in_and_out():
    module = module_of(
        "def @main(%x: int32) { (Cons(%x, Nil), ref(%x), fn (%y: int32) { %y * %x }) }\n"
        "def @use(%l: List[int32], %r: ref(int32), %f: fn (int32) -> int32) {"
        " ref_write(%r, %f(@hd(%l))); ref_read(%r) }"
    )
    data, ref, function = relay.create_executor("interpreter", mod=module).evaluate()(6)
    assert plain(data) == [6]
    use = relay.create_executor("interpreter", mod=module.with_function("main", module["use"])).evaluate()
    assert plain(use(data, ref, function)) == 36
    assert plain(ref.value) == 36
    with pytest.raises(RelayError, match="a tensor is not a List"):
        use(1, ref, function)


def test_everything_is_typed():
    """No node of a program that uses the whole prelude is left without a type."""
    module = infer_type(relay.Prelude().mod)
    for function in module.functions.values():
        for node in post_order(function):
            assert isinstance(node, (Constructor, GlobalVar)) or type(node).__name__ == "Op" or node.checked_type
            if isinstance(node, Call) and isinstance(node.op, GlobalVar):
                assert len(node.type_args) == len(module[node.op].checked_type.type_params)
