"""What a module says, and the types of nodes while they are being found."""

import pytest

from relay.base.diagnostics import RelayError
from relay.base.span import Source, Span
from relay.infer.environment import Environment, Signature
from relay.infer.forms.forms import TYPING
from relay.infer.forms.node_types import NodeTypes
from relay.infer.infer_type import infer_type, infer_type_expr
from relay.infer.unification.explain import callee_name, describe, place, short_name, span_of_use
from relay.infer.unification.known import annotated_type
from relay.infer.unification.unify import Mode, Unifier
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    const,
    record_type,
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
    TypeVar,
    scalar_type,
)
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse

INT, BOOL = scalar_type("int32"), scalar_type("bool")
MODULE = parse('#[version = "0.0.5"]\ntype List[a] { Nil, Cons(a, List[a]) }\n', OPERATORS)
LIST = GlobalTypeVar("List", Kind.ADT_HANDLE)


def nodes():
    return NodeTypes(Environment(MODULE.type_definitions))


def test_globals():
    environment = Environment({})
    f, g, h = (GlobalVar(name) for name in "fgh")
    typed, untyped = infer_type_expr(Function((), const(1))), Function((), const(2))
    environment.add_typed([(f, typed), (g, untyped)])
    environment.signatures[h] = Signature(INT, being_inferred=True)
    assert environment.signature(f) == Signature(FuncType((), INT))
    assert environment.signature(h).being_inferred
    with pytest.raises(RelayError) as refused:
        environment.signature(g)
    assert str(refused.value) == ("error[unknown-global]: the module has no function @g\n  expected: one of @f, @h")
    with pytest.raises(RelayError, match=r"one of \(none\)"):
        Environment({}).signature(f)


def test_constructors():
    nil, cons = MODULE.type_definitions[LIST].constructors
    environment = Environment(MODULE.type_definitions)
    assert str(environment.constructor_type(cons)) == "fn [a](a, List[a]) -> List[a]"
    assert str(nodes().of(nil)) == "fn [a]() -> List[a]"
    with pytest.raises(RelayError, match="the module does not define the data type List"):
        Environment({}).constructor_type(cons)


def test_annotations_must_be_types():
    environment = Environment(MODULE.type_definitions)
    environment.check_annotation(TensorType((2,), "int8"), "the type of %x", None)
    environment.check_annotation(TupleType((INT,)), "the type of %x", None)
    with pytest.raises(RelayError, match="the type of %x must be a type"):
        environment.check_annotation(TypeVar("s", Kind.SHAPE_VAR), "the type of %x", None)
    with pytest.raises(RelayError, match="the type of %x must be a type"):
        nodes().bind(Var("x", TypeVar("s", Kind.SHAPE_VAR)))


def test_variables():
    types = nodes()
    annotated, bare, old = Var("x", TensorType((2,), "int8")), Var("y"), infer_type_expr(Var("z", INT))
    assert types.known(annotated) is types.known(bare) is None
    assert annotated not in types
    assert types.of(annotated) is annotated.type_annotation
    hole = types.of(bare)
    assert (types.of(bare), hole.reason) == (hole, "the type of %y")
    assert annotated in types
    assert types.of(old) is types.known(old) is INT
    assert old not in types
    assert types.bind(bare, BOOL) is BOOL
    assert types.of(bare) is BOOL
    assert annotated_type(bare) is None
    assert annotated_type(old) is INT
    unknown = infer_type_expr(Var("w", TensorType((ANY,), "int8")))
    assert annotated_type(unknown) is unknown.checked_type, "its extent is the one that it was given first"


def test_nodes():
    types = nodes()
    used, typed = Tuple(()), Tuple((const(1),))
    hole = types.of(used)
    assert (type(hole), hole.reason, types.of(used)) == (IncompleteType, "the type of a tuple", hole)
    types.set(used, TupleType(()))
    types.set(typed, TupleType((INT,)))
    assert types.now(used) == TupleType(())
    assert str(types.origin("one", typed)) == "one   (int32,)   from a tuple"
    with pytest.raises(RelayError) as refused:
        types.set(used, INT)
    assert str(refused.value) == (
        "error[type-mismatch]: an expression is used as another type: int32 is not ()\n"
        "  found   int32   from a tuple\n  used as   ()"
    )
    types.replace(typed, BOOL)
    types.finish()
    assert (types.of(used), types.of(typed)) == (TupleType(()), BOOL)
    assert used.checked_type is typed.checked_type is None
    types.record()
    assert (used.checked_type, typed.checked_type) == (TupleType(()), BOOL)


def test_nothing_of_a_finished_group_is_kept():
    types, tensor = nodes(), TensorType((4,), "int8")
    k = types.unifier.fresh_symbol("k")
    types.bind(Var("x"), hole := IncompleteType())
    for found, expected in ((hole, INT), (TensorType((k,), "int8"), tensor)):
        assert types.relate(found, expected, Mode.EXACT, Tuple(())) is None
    assert types.unifier != Unifier()
    types.finish()
    assert types.unifier == Unifier()


def test_a_type_that_stays_unknown_is_refused_by_its_reason():
    types = nodes()
    types.bind(Var("x"), TupleType((IncompleteType(reason="the type of %it"),)))
    with pytest.raises(RelayError) as refused:
        types.finish()
    assert str(refused.value) == "error[unresolved-types]: the type of %it cannot be found\n  help: annotate it"
    types = nodes()
    types.bind(Var("x"), IncompleteType())
    with pytest.raises(RelayError, match="a type cannot be found"):
        types.finish()


def test_type_arguments_are_recorded_with_the_types():
    types, f = nodes(), Var("f")
    call, again = Call(f, (const(1),)), Call(f, ())
    hole = IncompleteType()
    types.bind(f, FuncType((INT,), INT, (a := TypeVar("a"),)))
    types.instantiate(call, (hole,))
    types.call_itself(again)
    assert types.relate(hole, INT, Mode.EXACT, call) is None
    types.finish()
    assert call.type_args == ()
    types.record()
    assert (tuple(call.type_args), tuple(again.type_args)) == ((INT,), (a,))


def test_extents_are_looked_at_again_in_the_end():
    types, where = nodes(), Tuple(())
    k, j = types.unifier.fresh_symbol("k"), types.unifier.fresh_symbol("j")
    square, three = TensorType((k * k,), "int8"), TensorType((3,), "int8")
    assert types.relate(square, TensorType((9,), "int8"), Mode.EXACT, where) is None
    assert types.unifier.postponed == []
    assert types.relate(TensorType((k,), "int8"), three, Mode.EXACT, Tuple((where,))) is None
    types.finish()
    k = types.unifier.fresh_symbol("k")
    types.relate(TensorType((k * k,), "int8"), TensorType((9,), "int8"), Mode.EXACT, where)
    types.relate(TensorType((k,), "int8"), TensorType((4,), "int8"), Mode.EXACT, Tuple((where,)))
    with pytest.raises(RelayError) as refused:
        types.finish()
    assert str(refused.value) == (
        "error[type-mismatch]: two extents that must be equal are not: 16 is not 9\n"
        "  expected: 9\n  found:    k*k, in a tuple"
    )
    assert j is not k


def test_a_choice_is_to_blame_for_its_extents():
    types, (c, one, other, size) = nodes(), (Var(name) for name in ("c", "one", "other", "size"))
    k = types.unifier.fresh_symbol("k")
    for var, type_ in ((c, BOOL), (one, RefType(TensorType((k * k,), "int8"))), (size, TensorType((3,), "int8"))):
        types.bind(var, type_)
    types.bind(other, RefType(TensorType((4,), "int8")))
    TYPING[If](types, If(c, one, other))
    assert types.relate(types.of(size), TensorType((k,), "int8"), Mode.EXACT, size) is None
    with pytest.raises(RelayError, match="in an if"):
        types.finish()


def test_an_expression_may_use_the_functions_of_a_module():
    f = GlobalVar("f")
    module = IRModule({f: Function((x := Var("x", INT),), Tuple((x,)))})
    assert str(infer_type_expr(Call(f, (const(1),)), module).checked_type) == "(int32,)"


X = Var("x")


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (X, "variable %x"),
        (Var("x", INT), "parameter %x"),
        (GlobalVar("f"), "@f"),
        (const(1), "the constant 1"),
        (const([1, 2]), "a constant"),
        (Op(OPERATORS["add"]), "the operator add"),
        (MODULE.type_definitions[LIST].constructors[0], "the constructor Nil, line 2"),
        (Call(Op(OPERATORS["nn.relu"]), (X,)), "nn.relu"),
        (Call(GlobalVar("f"), ()), "@f"),
        (Call(X, ()), "%x"),
        (Call(MODULE.type_definitions[LIST].constructors[0], ()), "Nil"),
        (Call(TupleGetItem(X, 0), ()), "a call"),
        (Let(X, const(1), X), "let %x"),
        (Tuple(()), "a tuple"),
        (TupleGetItem(X, 0), "a field of a tuple"),
        (Function((), X), "a function"),
        (If(X, X, X), "an if"),
        (Match(X, (Clause(PatternWildcard(), X),)), "a match"),
        (RefCreate(X), "a ref"),
        (RefRead(X), "a read of a ref"),
        (RefWrite(X, X), "a write of a ref"),
    ],
    ids=lambda node: type(node).__name__,
)
def test_descriptions(node, expected):
    assert describe(node) == expected


def test_names_of_callees():
    assert callee_name(Op(OPERATORS["nn.conv2d"])) == "nn.conv2d"
    assert short_name(Op(OPERATORS["nn.conv2d"])) == "conv2d"
    assert short_name(GlobalVar("main")) == "main"
    assert short_name(Var("f.g")) == "g"
    assert short_name(Var("1")) == "d"
    assert short_name(TupleGetItem(X, 0)) == "d"
    assert short_name(Constructor("Nil", (), LIST)) == "Nil"


def test_places():
    body = "  %0 = add(%x, 1);\n  let %y = (%0, %x);\n  (%y.0, add(%0, 2))\n"
    module = parse(f'#[version = "0.0.5"]\ndef @main(%x: int32) {{\n{body}}}\n', OPERATORS, "model.relay")
    found = [describe(node) for node in post_order(module["main"]) if isinstance(node, (Call, Tuple, TupleGetItem))]
    assert found == [
        "%0 = add, line 3",
        "%y = a tuple, line 4",
        "a field of a tuple, line 5",
        "add, line 5",
        "a tuple, line 5",
    ]
    assert describe(Tuple((), span=Span(Source("gone.py"), 7))) == "a tuple, gone.py:7"
    assert describe(Tuple((), span=Span(Source("m.py", "x = 1\npair = ()\n"), 2))) == "pair = a tuple, line 2"
    let = module["main"].body
    assert (place(None), place(let.span)) == ("", ", line 4")
    assert span_of_use(X, let) is span_of_use(Tuple(()), let) is let.span
    assert span_of_use(let.value, let) is let.value.span is not let.span


def test_what_a_name_stands_for_is_what_its_module_says():
    name, x = GlobalVar("f"), Var("x", scalar_type("float32"))
    record_type(name, FuncType((scalar_type("int32"),), scalar_type("int32")))  # in another module, before
    y = Var("y", scalar_type("float32"))
    main = Function((x,), Call(name, (x,)))
    typed = infer_type(IRModule({GlobalVar("main"): main, name: Function((y,), y)}))
    assert str(typed["main"].body.checked_type) == "float32"
