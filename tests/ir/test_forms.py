"""The forms of expressions, types, modules and attributes: what they take, what they refuse, how they are rebuilt."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from relay.arith.expr import Symbol, maximum
from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes, NoAttributes, attribute_symbols, with_extents
from relay.ir.datatype import TypeData, held_types
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Function,
    GlobalVar,
    If,
    InferredTypes,
    Let,
    Match,
    Op,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    const,
    pattern_vars,
    record_type,
    record_type_args,
)
from relay.ir.known_types import known_tensor_type, known_type
from relay.ir.module import IRModule
from relay.ir.sharing import let_chain, scopes
from relay.ir.sugar import ExprSugar, Printable
from relay.ir.traversal import body_nodes, children, post_order, rebuild
from relay.ir.type_compatibility import compatible
from relay.ir.type_traversal import (
    free_type_leaves,
    has_extents_of,
    is_closed,
    map_type,
    tensor_types,
    type_calls,
    type_holes,
    type_leaves,
    type_symbols,
)
from relay.ir.type_variables import all_type_vars, free_type_vars
from relay.ir.types import (
    ANY,
    LARGEST_TYPE,
    MAX_TYPE_DEPTH,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    TypeCall,
    TypeVar,
    type_parts,
)
from relay.ir.variables import all_vars, refresh, substitute
from relay.ir.well_formed import well_formed

FLOAT, INT = TensorType((), DType.FLOAT32), TensorType((), DType.INT32)
LIST = GlobalTypeVar("List")
NIL, CONS = Constructor("Nil", (), LIST), Constructor("Cons", (FLOAT, LIST), LIST, 1)
X, Y, Z = Var("x"), Var("y"), Var("z")
N, M = Symbol("n"), Symbol("m")


def refusal(make: Any) -> RelayError:
    with pytest.raises(RelayError) as caught:
        make()
    return caught.value


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(1, "int32"), (True, "bool"), (1.5, "float32"), ([1, 2], "int32"), (-(2**31), "int32"), (2**31 - 1, "int32"),
     (np.int64(1), "int64"), (np.zeros(2), "float64"), (np.float16(1), "float16"), ([], "float32")],
)  # fmt: skip
def test_constants_are_of_the_published_types(value: Any, dtype: str) -> None:
    assert str(const(value).dtype) == dtype


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**70, "abc", [[1], [1, 2]], X])
def test_what_is_no_constant(value: Any) -> None:
    error = refusal(lambda: const(value))
    assert error.rule == "not-a-constant"
    assert ("more than 64 bits" in error.found) == (value == 2**70 if isinstance(value, int) else False)
    assert ("int64" in error.remedy) == (value in (2**31, -(2**31) - 1) if isinstance(value, int) else False)


def test_constants_are_read_only_and_not_copied() -> None:
    array = np.zeros(3, "float32")
    constant = const(array)
    assert not constant.data.flags.writeable
    assert np.shares_memory(constant.data, array)
    assert array.flags.writeable
    assert known_type(constant) == TensorType((3,), DType.FLOAT32)
    assert known_tensor_type(constant) == TensorType((3,), DType.FLOAT32)
    with pytest.raises(CompilerBug):
        known_type(X)
    with pytest.raises(CompilerBug):
        known_tensor_type(record_type(Tuple(()), TupleType(())))


@pytest.mark.parametrize(
    "make",
    [lambda: Var(1), lambda: Var("x", "float32"), lambda: GlobalVar(1), lambda: Tuple((1,)), lambda: Tuple(X),
     lambda: TupleGetItem(1, 0), lambda: TupleGetItem(X, "0"), lambda: TupleGetItem(X, True),
     lambda: Function((1,), X), lambda: Function((X,), None), lambda: Function((X,), X, "float32"),
     lambda: Function((), X, None, (1,)), lambda: Function((), X, None, (), 1), lambda: Function((), X, None, X),
     lambda: Call(1, ()), lambda: Call(X, (1,)), lambda: Call(X, (), {"axis": 1}), lambda: Let(1, X, X),
     lambda: Let(X, 1, X), lambda: Let(X, X, 1), lambda: If(1, X, X), lambda: If(X, X, None), lambda: RefCreate(1),
     lambda: RefRead(1), lambda: RefWrite(X, 1), lambda: RefWrite(1, X), lambda: Match(1, ()), lambda: Match(X, (X,)),
     lambda: Constructor(1, (), LIST), lambda: Constructor("A", (1,), LIST), lambda: Op("add"), lambda: PatternVar(1),
     lambda: PatternConstructor(1), lambda: PatternConstructor(NIL, (1,)), lambda: PatternTuple((1,)),
     lambda: Clause(1, X), lambda: Clause(PatternWildcard(), 1), lambda: TensorType(("n",), "float32"),
     lambda: TensorType("n", "float32"), lambda: TupleType((1,)), lambda: FuncType((1,), FLOAT),
     lambda: FuncType((), 1), lambda: RefType(1), lambda: GlobalTypeVar(1), lambda: TypeCall(LIST, (1,)),
     lambda: IRModule({"main": 1}), lambda: IRModule({1: Function((), X)}), lambda: IRModule(Function((), X)),
     lambda: IRModule().with_functions(X), lambda: IRModule().update(1), lambda: IRModule.from_expr(1),
     lambda: IRModule()[1], lambda: IRModule({}, 1)],
)  # fmt: skip
def test_parts_of_another_kind_are_refused_where_they_are_given(make: Any) -> None:
    assert refusal(make).rule == "wrong-argument"


@pytest.mark.parametrize(
    ("value", "remedy"),
    [(1, "relay.const"), (True, "relay.const"), (np.zeros(2), "relay.const"), ([X], "relay.Tuple"), (None, ""),
     (SimpleNamespace(astuple=tuple), "astuple")],
)  # fmt: skip
def test_remedies_say_how_to_write_an_expression(value: Any, remedy: str) -> None:
    found = refusal(lambda: RefCreate(value)).remedy
    assert remedy in found
    assert bool(found) == bool(remedy)


def test_a_module_of_an_expression_says_how_to_close_it() -> None:
    assert "from_expr" in refusal(lambda: IRModule({"main": X})).remedy
    assert "from_expr" in refusal(lambda: IRModule(Function((), X))).remedy
    assert refusal(lambda: IRModule({"main": 1})).remedy == ""


def test_lists_become_tuples() -> None:
    made = [Tuple([X]).fields, Function([X], X).params, Call(X, [Y]).args, Match(X, []).clauses,
    TupleType([INT]).fields,
            PatternTuple([PatternWildcard()]).patterns,
            TensorType([3], "int8").shape, FuncType([INT], INT, []).arg_types,
            TypeCall(LIST, [INT]).args, Constructor("A", [INT], LIST).inputs, Function((), X, None, []).type_params,
            Call(X, (), None, [INT]).type_args]  # fmt: skip
    assert all(isinstance(each, tuple) for each in made)
    assert TypeCall(LIST, INT).args == (INT,)
    assert TensorType((), "int8").dtype is DType.INT8


def test_parts_that_programs_of_relay_give_as_none_are_empty() -> None:
    function = Function((X,), X, None, None, None)
    assert (function.type_params, dict(function.attrs)) == ((), {})
    assert Call(X, (), None, None).type_args == ()


def test_types_read_as_text() -> None:
    a = TypeVar("a")
    texts = {
        "int32": INT,
        "Tensor[(3,), int32]": TensorType((3,), DType.INT32),
        "Tensor[(n, ?), int32]": TensorType((N, ANY), DType.INT32),
        "()": TupleType(()),
        "(int32,)": TupleType((INT,)),
        "(int32, float32)": TupleType((INT, FLOAT)),
        "fn (int32) -> float32": FuncType((INT,), FLOAT),
        "fn [a](a, int32) -> a": FuncType((a, INT), a, (a,)),
        "ref(int32)": RefType(INT),
        "List": TypeCall(LIST, ()),
        "List[int32, a]": TypeCall(LIST, (INT, a)),
        "_": IncompleteType(),
    }
    assert {str(type_): type_ for type_ in texts.values()} == texts


def test_what_types_hold() -> None:
    a, b = TypeVar("a"), TypeVar("b")
    hole = IncompleteType()
    tensor = TensorType((N, M * 2, 3), DType.INT8)
    whole = TupleType((FuncType((a, tensor), b, (b,)), RefType(TypeCall(LIST, (hole,))), GlobalTypeVar("Tree"), tensor))
    assert [str(each) for each in type_leaves(whole)] == ["a", str(tensor), "b", "_", "Tree", str(tensor)]
    assert list(tensor_types(whole)) == [tensor, tensor]
    assert free_type_leaves(whole) == (a, hole)
    assert [str(each) for each in type_calls(whole)] == ["List[_]", "Tree"]
    assert type_symbols(whole) == (N, M)
    assert type_holes(whole) == (hole,)
    assert len(list(type_parts(whole))) == 10
    assert tensor.element_count is None
    assert TensorType((2, 3), DType.INT8).element_count == 6
    assert TensorType((), DType.INT8).element_count == 1


def test_types_that_mean_the_same_everywhere() -> None:
    closed = (INT, TupleType(()), TensorType((3, 4), DType.INT8), TypeCall(LIST, (INT,)))
    opened = (None, TypeVar("a"), IncompleteType(), TensorType((N,), DType.INT8), TensorType((ANY,), DType.INT8),
              TupleType((INT, TensorType((3, N + 1), DType.INT8))))  # fmt: skip
    assert [is_closed(each) for each in (*closed, *opened)] == [True] * len(closed) + [False] * len(opened)
    assert has_extents_of(TensorType((N, 2 * N, 3), DType.INT8), {N})
    assert not has_extents_of(TensorType((N, M), DType.INT8), {N})
    assert not has_extents_of(TensorType((N + M,), DType.INT8), {N})


def test_types_are_rebuilt_only_where_something_changes() -> None:
    a = TypeVar("a")
    types = (TupleType((a, INT)), FuncType((a,), INT, (TypeVar("b"),)), RefType(a), TypeCall(LIST, (a, INT)))
    for type_ in types:
        assert map_type(type_, lambda leaf: leaf, lambda extent: extent) is type_
        assert map_type(type_) is type_
        changed = map_type(type_, lambda _: FLOAT)
        assert type(changed) is type(type_)
        assert str(changed) == str(type_).replace("a]", "float32]").replace("(a", "(float32").replace("[a", "[float32")
    tensor = TensorType((N, 3), DType.INT8)
    assert map_type(tensor, dimension=lambda extent: 7 if extent is N else extent) == TensorType((7, 3), DType.INT8)
    assert map_type(tensor, lambda _: FLOAT) is tensor
    assert map_type(LIST, lambda _: FLOAT, lambda _: 1) is LIST


def test_types_grow_up_to_a_limit() -> None:
    deep = INT
    for _ in range(MAX_TYPE_DEPTH):
        deep = RefType(deep)
    assert deep.depth == MAX_TYPE_DEPTH
    assert refusal(lambda: RefType(deep)).rule == "nested-too-deep"
    wide = TupleType((INT,) * LARGEST_TYPE)
    assert wide.leaf_count == LARGEST_TYPE
    assert refusal(lambda: TupleType((wide, INT))).rule == "type-too-large"
    assert TupleType((TupleType(()), INT)).leaf_count == 2
    assert FuncType((INT,), FLOAT).leaf_count == 2


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (INT, INT, True), (INT, FLOAT, False), (TensorType((3,), DType.INT8), TensorType((3, 3), DType.INT8), False),
        (TensorType((N,), DType.INT8), TensorType((3,), DType.INT8), True), (INT, TupleType((INT,)), False),
        (TupleType((INT,)), TupleType((INT, INT)), False), (TupleType((INT, FLOAT)), TupleType((INT, INT)), False),
        (TypeCall(LIST, (INT,)), TypeCall(LIST, (FLOAT,)), False), (LIST, LIST, True),
        (LIST, GlobalTypeVar("T"), False),
        (TypeCall(LIST, (INT,)), TypeCall(GlobalTypeVar("T"), (INT,)), False),
        (TypeCall(LIST, (INT,)), TypeCall(LIST, (INT, INT)), False), (TypeVar("a"), TypeVar("b"), True),
        (FuncType((INT,), INT), FuncType((INT,), FLOAT), False),
        (FuncType((INT,), INT), FuncType((FLOAT,), INT), False),
        (FuncType((INT,), INT), FuncType((), INT), False), (RefType(INT), RefType(FLOAT), False),
        (FuncType((), INT, (TypeVar("a"),)), FuncType((), INT), False), (RefType(INT), RefType(INT), True),
        (FuncType((INT,), TensorType((3,), DType.INT8)), FuncType((INT,), TensorType((ANY,), DType.INT8)), True),
        (RefType(TensorType((3,), DType.INT8)), RefType(TensorType((ANY,), DType.INT8)), True),
    ],
)  # fmt: skip
def test_types_of_one_value(left: Any, right: Any, expected: bool) -> None:
    assert compatible(left, right) is expected
    assert compatible(right, left) is expected


def test_type_variables_of_programs() -> None:
    a, b, c, d, e = (TypeVar(name) for name in "abcde")
    x, y = Var("x", b), Var("y", d)
    program = Function((x,), Call(Let(y, x, y), (Var("z", e),), None, (c,)), a, (a, b))
    assert set(all_type_vars(program)) == {a, b, c, d, e}
    assert set(free_type_vars(program)) == {c, d, e}
    assert free_type_vars(Function((x,), x, None, (b,))) == ()
    assert free_type_vars(Function((), X, a)) == (a,)


@frozen
class _Pads(Attributes):
    before: Any = 0
    after: Any = 0


def test_attributes_are_plain_values() -> None:
    made = _Pads([1, [2, const(3)]], const([4, 5]))
    assert (made.before, made.after) == ((1, (2, 3)), (4, 5))
    assert made.shown() == (("before", (1, (2, 3))), ("after", (4, 5)))
    assert _Pads(0, 1).shown() == (("after", 1),)
    assert {_Pads({"k": [1], "m": 2}): 1}[_Pads({"m": 2, "k": (1,)})] == 1  # passes look calls up by them
    assert refusal(lambda: _Pads(X)).rule == "value-not-known"
    assert NoAttributes().shown() == ()


def test_symbols_of_attributes_are_found_and_replaced_everywhere() -> None:
    k = Symbol("k")
    made = _Pads((N, (maximum(M, 2), 3)), {"k": k * 2, "text": "n"})
    assert attribute_symbols(made) == (N, M, k)
    assert attribute_symbols(_Pads(1, "n")) == ()
    replaced = with_extents(made, {N: 5, maximum(M, 2): 7, k * 2: 8}.__getitem__)
    assert (replaced.before, replaced.after) == ((5, (7, 3)), {"k": 8, "text": "n"})
    assert with_extents(made, lambda extent: extent) is made


PARTS = [
    Tuple((X, Y)), TupleGetItem(X, 1), Function((Z,), X, FLOAT, (TypeVar("a"),), {"k": 1}),
    Call(X, (Y, Z), NoAttributes(), (INT,)), Let(Z, X, Y), If(X, Y, Z), RefCreate(X), RefRead(X), RefWrite(X, Y),
    Match(X, (Clause(PatternVar(Z), Y), Clause(PatternWildcard(), X)), False),
]  # fmt: skip


@pytest.mark.parametrize("node", PARTS, ids=lambda node: type(node).__name__)
def test_nodes_are_rebuilt_with_other_children(node: Any) -> None:
    old = children(node)
    assert rebuild(node, list(old)) is node
    new = [Var(f"new{position}") for position in range(len(old))]
    made = rebuild(node, new)
    assert type(made) is type(node)
    assert children(made) == tuple(new)
    kept = ("index", "params", "ret_type", "type_params", "attrs", "type_args", "var", "complete")
    for name in kept:
        if hasattr(node, name):
            assert getattr(made, name) == getattr(node, name)
    if isinstance(node, Match):
        assert [clause.lhs for clause in made.clauses] == [clause.lhs for clause in node.clauses]
    with pytest.raises(CompilerBug):
        rebuild(node, new[1:])


@pytest.mark.parametrize("leaf", [X, GlobalVar("f"), const(1), NIL], ids=lambda node: type(node).__name__)
def test_leaves_have_no_children(leaf: Any) -> None:
    assert children(leaf) == ()
    assert rebuild(leaf, ()) is leaf


def test_a_function_keeps_the_nodes_of_its_body() -> None:
    body = Tuple((X, Y))
    function = Function((X,), body)
    assert body_nodes(function) == (X, Y, body)
    assert body_nodes(function) is body_nodes(function) is function.walked
    assert post_order(function) == [X, Y, body, function]
    assert post_order(function, Z) == [X, Y, body, function, Z]


def test_only_expressions_have_children() -> None:
    assert refusal(lambda: children(1)).rule == "wrong-argument"


def test_type_arguments_that_inference_found_are_no_part_of_the_program() -> None:
    call = Call(X, (Y,))
    record_type_args(call, (INT,))
    assert (call.type_args, call.given_type_args) == ((INT,), ())
    assert isinstance(call.type_args, InferredTypes)
    assert Call(X, (Y,), None, call.type_args).type_args == ()
    given = Call(X, (Y,), None, (FLOAT,))
    record_type_args(given, (INT,))
    assert given.given_type_args == (FLOAT,)


def test_function_attributes() -> None:
    plain = Function((X,), X)
    marked = plain.with_attr("Primitive", 1)
    assert dict(marked.attrs) == {"Primitive": 1}
    assert (marked.params, marked.body) == (plain.params, plain.body)
    assert plain.without_attr("Primitive") is plain
    assert marked.checked_type is None
    typed = record_type(Function((X,), X), FuncType((INT,), INT))
    assert typed.with_attr("Primitive", 1).checked_type is typed.checked_type
    assert dict(marked.with_attr("b", 2).without_attr("Primitive").attrs) == {"b": 2}


def test_constructors_and_globals_are_equal_by_name() -> None:
    assert GlobalVar("f") == GlobalVar("f")
    assert GlobalVar("f") != GlobalVar("g")
    assert hash(GlobalVar("f")) == hash(GlobalVar("f"))
    assert Constructor("Nil", (), LIST, 3) == NIL
    assert hash(Constructor("Nil", (), LIST, 3)) == hash(NIL)
    assert NIL != CONS
    assert Constructor("Nil", (), GlobalTypeVar("Tree")) != NIL
    assert Constructor("Nil", (INT,), LIST) != NIL
    assert GlobalVar("f") != "f"
    assert NIL != "Nil"


def test_variables_of_patterns_stand_from_left_to_right() -> None:
    inner = PatternConstructor(CONS, (PatternVar(X), PatternTuple((PatternVar(Y), PatternWildcard()))))
    assert pattern_vars(PatternTuple((inner, PatternVar(Z)))) == (X, Y, Z)
    assert pattern_vars(PatternWildcard()) == ()


def test_variables_are_renamed_where_they_are_bound_and_used() -> None:
    p, q, r = Var("p"), Var("q"), Var("r", INT)
    body = Match(p, (Clause(PatternConstructor(CONS, (PatternVar(q), PatternTuple((PatternWildcard(),)))), q),))
    program = Function((p,), Let(r, body, Tuple((r, X))))
    made = refresh(program)
    assert {each.name_hint for each in all_vars(made)} == {"p", "q", "r", "x"}
    assert set(all_vars(made)) & set(all_vars(program)) == {X}
    assert [each.type_annotation for each in all_vars(made) if each.name_hint == "r"] == [INT]
    assert substitute(program, {}) is program
    assert X not in all_vars(substitute(program, {X: Y}))


def test_what_data_types_hold_is_told_once_for_each() -> None:
    tree, leaf = GlobalTypeVar("Tree"), TensorType((3,), DType.INT8)
    node, end = Constructor("Node", (tree, tree), tree), Constructor("Leaf", (leaf,), tree)
    definitions = {tree: TypeData(tree, (), (node, end))}
    assert [str(each) for each in held_types(tree, definitions)] == ["Tree", str(leaf), "Tree", "Tree"]
    assert list(held_types(leaf, definitions)) == [leaf]


def test_a_tuple_and_a_constant_have_parts_to_go_through() -> None:
    assert list(Tuple((X, Y))) == [X, Y]
    assert list(const([1, 2])) == [1, 2]


def test_uses_and_chains_of_lets() -> None:
    shared = TupleGetItem(X, 0)
    body = Tuple((shared, shared))
    outer = Let(Y, shared, Let(Z, shared, body))
    found = scopes(outer)
    assert found.uses(shared) == 4
    assert found.uses(outer) == 1
    assert found.uses(TupleGetItem(X, 0)) == 0
    assert let_chain(outer) == ([outer, outer.body], body)
    with pytest.raises(CompilerBug):
        found.of(X)


def test_a_let_used_twice_is_a_block_of_its_own_in_text() -> None:
    var = Var("v")
    let = Let(var, TupleGetItem(X, 0), Tuple((var,)))
    twice = Tuple((let, let))
    assert len(scopes(twice, text_blocks=True).inner(let)) == 1
    assert scopes(let, text_blocks=True).inner(let) == ()
    in_function = Function((), Let(var, TupleGetItem(X, 0), Tuple((var,))))
    assert scopes(in_function, text_blocks=True).inner(in_function.body) == ()


def test_arithmetic_needs_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(X + 1, Call)
    monkeypatch.setattr(ExprSugar, "arithmetic", None)
    with pytest.raises(TypeError):
        X + 1


def test_programs_without_a_printer_still_have_a_text() -> None:
    printer = Printable.printer
    assert str(const(1)) == const(1).astext(show_meta_data=False)
    try:
        Printable.printer = None
        assert "Constant object" in str(const(1))
        with pytest.raises(TypeError, match="needs the printer"):
            const(1).astext()
    finally:
        Printable.printer = printer


@pytest.mark.parametrize(
    ("program", "rules"),
    [
        (Function((X, X), X), ["bound-twice"]),
        (IRModule({"main": Function((X, X), X)}), ["bound-twice"]),
        (IRModule({"main": Function((), X)}), ["out-of-scope"]),
        (IRModule({"main": Function((), Call(GlobalVar("f"), ()))}), ["unknown-global"]),
        (IRModule({"f": Function((X,), X), "g": Function((X,), X)}), ["bound-twice"]),
        (IRModule({"f": Function((X,), X), "g": Function((Y,), Y)}), []),
        (Tuple((X,)), []),
        (If(X, Let(Y, X, Y), Y), ["out-of-scope"]),
        (Let(Y, Y, Y), ["out-of-scope"]),
        (Let(Y, Function((), Y), Y), []),
        (Let(Y, Tuple((Y,)), Y), ["out-of-scope"]),
        (Match(X, (Clause(PatternVar(Y), Y), Clause(PatternWildcard(), Y))), ["out-of-scope"]),
        (Tuple((Function((Y,), Y), Y)), ["out-of-scope"]),
        (Call(X, (), NoAttributes()), ["attributes-without-operator"]),
        (Function((), X, None, (TYPE_PARAMETER := TypeVar("a"), TYPE_PARAMETER)), ["bound-twice"]),
    ],
)  # fmt: skip
def test_well_formed(program: Any, rules: list[str]) -> None:
    assert [reason.rule for reason in well_formed(program)] == rules
