"""Whatever is told apart by structural equality: each of these equals itself made anew, and none of the others."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from relay.arith.expr import Symbol, maximum, minimum
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.datatype import TypeData
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
)
from relay.ir.structural import structural_equal, structural_hash
from relay.ir.types import ANY, FuncType, GlobalTypeVar, IncompleteType, Kind, RefType, TensorType, TupleType, TypeCall
from relay.ir.types import TypeVar as TypeVariable
from relay.ops.table import OPERATORS

FLOAT, INT = TensorType((), DType.FLOAT32), TensorType((), DType.INT32)
LIST, TREE = GlobalTypeVar("List"), GlobalTypeVar("Tree")
NIL, CONS = Constructor("Nil", (), LIST), Constructor("Cons", (FLOAT, LIST), LIST, 1)
LEAF = Constructor("Nil", (), TREE)
X, Y, N = Var("x"), Var("y"), Symbol("n")


@frozen
class _Window(Attributes):
    size: Any = "default"


@frozen
class _Step(Attributes):
    size: Any = "default"


def _function(**parts: Any) -> Function:
    return Function(**{"params": (), "body": const(1), **parts})


def _of_two(first: Any = None, second: Any = None, result: Callable[[Var, Var], Any] = lambda a, b: a) -> Function:
    a, b = Var("a", first), Var("b", second)
    return Function((a, b), result(a, b))


def _let(annotation: Any) -> Let:
    var = Var("v", annotation)
    return Let(var, const(1), var)


def _polymorphic(kind: Kind, swapped: bool) -> Function:
    a, b = TypeVariable("a", kind), TypeVariable("b")
    return Function((Var("x", b if swapped else a),), const(1), None, (a, b))


def _generic(count: int) -> TypeData:
    names = tuple(TypeVariable(f"a{i}") for i in range(count))
    return TypeData(LIST, names, (NIL, Constructor("Cons", names or (FLOAT,), LIST, 1)))


def _quantified(swapped: bool) -> FuncType:
    a, b = TypeVariable("a"), TypeVariable("b")
    return FuncType((a, b), b if swapped else a, (a, b))


def _dimension(extent: Any) -> Function:
    x = Var("x", TensorType((N, extent), DType.FLOAT32))
    return Function((x,), x)


EXPRESSIONS: list[Callable[[], Any]] = [
    lambda: X, lambda: Y, lambda: GlobalVar("x"), lambda: GlobalVar("y"),
    lambda: const(1), lambda: const(2), lambda: const(1, "int64"), lambda: const([1]), lambda: const([[1]]),
    lambda: const(1.0), lambda: const(np.uint8(1)),
    lambda: NIL, lambda: CONS, lambda: LEAF, lambda: Op(OPERATORS["add"]), lambda: Op(OPERATORS["subtract"]),
    lambda: Call(Op(OPERATORS["add"]), (X, Y)), lambda: Call(Op(OPERATORS["subtract"]), (X, Y)),
    lambda: Tuple(()), lambda: Tuple((X,)), lambda: Tuple((Y,)), lambda: Tuple((X, X)), lambda: Tuple((X, Y)),
    lambda: TupleGetItem(X, 0), lambda: TupleGetItem(X, 1), lambda: TupleGetItem(Y, 0),
    lambda: If(X, X, Y), lambda: If(X, Y, X), lambda: RefCreate(X), lambda: RefRead(X), lambda: RefWrite(X, Y),
    lambda: RefWrite(Y, X),
    lambda: _let(None), lambda: _let(INT), lambda: _let(FLOAT), lambda: Let(Var("v"), const(1), X),
    lambda: Call(X, ()), lambda: Call(X, (Y,)), lambda: Call(Y, (X,)), lambda: Call(X, (Y, Y)),
    lambda: Call(X, (), None, (FLOAT,)), lambda: Call(X, (), None, (INT,)), lambda: Call(X, (), None, (INT, INT)),
    lambda: Call(X, (), _Window(2)), lambda: Call(X, (), _Step(2)), lambda: Call(X, (), _Window(True)),
    lambda: Call(X, (), _Window(2.0)), lambda: Call(X, (), _Window("2")), lambda: Call(X, (), _Window((2,))),
    lambda: Call(X, (), _Window((2, 2))), lambda: Call(X, (), _Window(None)), lambda: Call(X, (), _Window(DType.INT8)),
    lambda: Call(X, (), _Window(N * 2)), lambda: Call(X, (), _Window(DType.INT4)),
    lambda: _function(), lambda: _function(body=const(2)), lambda: _function(ret_type=INT),
    lambda: _function(ret_type=FLOAT), lambda: _function(params=(Var("p"),)),
    lambda: _function(params=(Var("p", INT),)),
    lambda: _function(attrs={"a": 1}), lambda: _function(attrs={"a": 2}), lambda: _function(attrs={"b": 1}),
    lambda: _function(attrs={"a": 1, "b": 2}), lambda: _function(attrs={"a": {"k": 1}}),
    lambda: _function(attrs={"a": {"k": 2}}), lambda: _function(attrs={"a": {"l": 1}}),
    lambda: _function(attrs={"a": {}}), lambda: _function(attrs={"a": np.int8(1)}),
    lambda: _function(attrs={"a": np.int8(2)}), lambda: _function(attrs={"a": np.int16(1)}),
    lambda: _of_two(), lambda: _of_two(result=lambda a, b: b), lambda: _of_two(INT), lambda: _of_two(None, INT),
    lambda: _polymorphic(Kind.TYPE, False), lambda: _polymorphic(Kind.TYPE, True),
    lambda: _polymorphic(Kind.SHAPE_VAR, False),
    lambda: Match(X, ()), lambda: Match(X, (), False),
    lambda: Match(X, (Clause(PatternWildcard(), X),)), lambda: Match(X, (Clause(PatternVar(Var("a")), X),)),
    lambda: Match(X, (Clause(PatternVar(Var("a", INT)), X),)),
    lambda: Match(X, (Clause(PatternTuple((PatternWildcard(),)), X),)),
    lambda: Match(X, (Clause(PatternTuple(()), X),)),
    lambda: Match(X, (Clause(PatternTuple((PatternTuple(()), PatternWildcard())), X),)),
    lambda: Match(X, (Clause(PatternTuple((PatternTuple((PatternWildcard(),)),)), X),)),
    lambda: Call(X, (), _Window(N)), lambda: Call(X, (), _Window(N * 3)),
    lambda: Match(X, (Clause(PatternTuple((PatternWildcard(), PatternTuple(()))), X),)),
    lambda: Match(X, (Clause(PatternConstructor(NIL), X),)), lambda: Match(X, (Clause(PatternConstructor(LEAF), X),)),
    lambda: Match(X, (Clause(PatternConstructor(CONS, (PatternWildcard(), PatternTuple(()))), X),)),
    lambda: Match(X, (Clause(PatternConstructor(CONS, (PatternTuple(()), PatternWildcard())), X),)),
    lambda: _dimension(N), lambda: _dimension(Symbol("n")), lambda: _dimension(3), lambda: _dimension(ANY),
    lambda: _dimension(N + 1), lambda: _dimension(N + 2), lambda: _dimension(N * 2), lambda: _dimension(N * N),
    lambda: _dimension(N // 2), lambda: _dimension(N // 3), lambda: _dimension(N % 2),
    lambda: _dimension(minimum(N, 2)),
    lambda: _dimension(maximum(N, 2)), lambda: _dimension(N * Symbol("m")),
]  # fmt: skip

TYPES: list[Callable[[], Any]] = [
    lambda: FLOAT, lambda: INT, lambda: TensorType((3,), DType.INT32), lambda: TensorType((4,), DType.INT32),
    lambda: TensorType((3, 4), DType.INT32), lambda: TensorType((ANY,), DType.INT32),
    lambda: TensorType((N,), DType.INT32),
    lambda: TupleType(()), lambda: TupleType((INT,)), lambda: TupleType((INT, INT)),
    lambda: TupleType((TupleType(()),)),
    lambda: FuncType((), INT), lambda: FuncType((INT,), INT), lambda: FuncType((INT,), FLOAT),
    lambda: FuncType((INT, INT), INT), lambda: _quantified(False), lambda: _quantified(True),
    lambda: RefType(INT), lambda: RefType(FLOAT), lambda: RefType(RefType(INT)),
    lambda: LIST, lambda: TREE, lambda: TypeCall(LIST, (INT,)), lambda: TypeCall(LIST, (FLOAT,)),
    lambda: TypeCall(TREE, (INT,)), lambda: TypeCall(LIST, (INT, INT)),
    lambda: IncompleteType(Kind.TYPE), lambda: IncompleteType(Kind.SHAPE_VAR),
]  # fmt: skip

DATA_TYPES: list[Callable[[], Any]] = [
    lambda: TypeData(LIST, (), (NIL,)), lambda: TypeData(TREE, (), (LEAF,)), lambda: TypeData(LIST, (), (NIL, CONS)),
    lambda: TypeData(LIST, (), (NIL,), True), lambda: _generic(0), lambda: _generic(1), lambda: _generic(2),
    lambda: TypeData(LIST, (), (Constructor("Nil", (INT,), LIST),)),
    lambda: TypeData(LIST, (), (Constructor("Nil", (FLOAT,), LIST),)),
    lambda: TypeData(LIST, (), (Constructor("None", (), LIST),)),
]  # fmt: skip


@pytest.mark.parametrize("makers", [EXPRESSIONS, TYPES, DATA_TYPES], ids=["expressions", "types", "data types"])
def test_each_equals_itself_alone(makers: list[Callable[[], Any]]) -> None:
    made = [make() for make in makers]
    for value, make in zip(made, makers, strict=True):
        again = make()
        assert structural_equal(value, again), value
        assert structural_hash(value) == structural_hash(again), value
    for one, other in combinations(made, 2):
        assert not structural_equal(one, other), (one, other)
    hashes = [structural_hash(value) for value in made]
    named_alike = 1 if makers is EXPRESSIONS else 0  # a hash knows names of free symbols, equality who they are
    assert len(hashes) - len(set(hashes)) <= named_alike


def test_free_names_of_types_correspond_when_asked() -> None:
    one, other = TensorType((N, N), DType.INT8), TensorType((Symbol("m"), Symbol("k")), DType.INT8)
    m = Symbol("m")
    assert not structural_equal(one, TensorType((m, m), DType.INT8))
    assert structural_equal(one, TensorType((m, m), DType.INT8), map_free_vars=True)
    assert not structural_equal(one, other, map_free_vars=True)


def test_symbols_of_a_function_type_are_its_own() -> None:
    def twice(n: Symbol) -> FuncType:
        return FuncType((TensorType((n,), DType.INT8),), TensorType((n * 2,), DType.INT8))

    assert structural_equal(twice(N), twice(Symbol("m")))


def test_a_data_type_without_arguments_is_its_name() -> None:
    assert structural_equal(LIST, TypeCall(LIST, ()))
    assert structural_hash(LIST) == structural_hash(TypeCall(LIST, ()))


def test_inferred_types_and_defaults_do_not_count() -> None:
    assert structural_equal(Call(X, (), _Window("default")), Call(X, (), None))
    assert structural_equal(Call(X, (), _Window("default")), Call(X, (), _Step("default")))


def test_an_element_type_is_the_one_of_its_name() -> None:
    assert structural_equal(Call(X, (), _Window(DType.INT8)), Call(X, (), _Window("int8")))
    assert structural_hash(Call(X, (), _Window(DType.INT8))) == structural_hash(Call(X, (), _Window("int8")))


def test_annotations_of_free_variables_count_where_they_correspond() -> None:
    assert structural_equal(Var("a", INT), Var("b", INT), map_free_vars=True)
    assert not structural_equal(Var("a", INT), Var("b", FLOAT), map_free_vars=True)
