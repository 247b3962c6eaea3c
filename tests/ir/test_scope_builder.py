"""`ScopeBuilder`: lets and branches in the order in which they run, and what it refuses."""

from collections.abc import Callable

import pytest

from relay.base.diagnostics import RelayError
from relay.ir.expr import If, Let, Tuple, Var, const
from relay.ir.scope_builder import ScopeBuilder
from relay.ir.sharing import let_chain
from relay.ir.types import scalar_type

INT = scalar_type("int32")
X = Var("x")


def test_a_scope_binds_the_variable_that_it_is_given() -> None:
    builder = ScopeBuilder()
    assert builder.let(X, const(1)) is X
    named = builder.let("y", const(2))
    assert (named.name_hint, named.checked_type) == ("y", INT)
    assert builder.let("z", Var("untyped")).checked_type is None
    builder.ret(Tuple((X, named)))
    lets, _ = let_chain(builder.get())
    assert [let.var for let in lets[:2]] == [X, named]


def test_branches_are_scopes_of_their_own_and_end_the_one_around_them() -> None:
    builder = ScopeBuilder()
    outer = builder.let("outer", const(1))
    with builder.if_scope(X):
        inner = builder.let("inner", outer)
        builder.ret(inner)
    with builder.else_scope():
        with builder.if_scope(outer):
            builder.ret(const(2))
        with builder.else_scope():
            builder.ret(const(3))
    whole = builder.get()
    assert isinstance(whole, Let)
    choice = whole.body
    assert isinstance(choice, If)
    assert (whole.var, choice.cond) == (outer, X)
    assert isinstance(choice.true_branch, Let)
    assert choice.true_branch.body is inner
    assert isinstance(choice.false_branch, If)
    assert choice.false_branch.cond is outer
    assert builder.type_of(inner) == INT
    assert builder.type_of(X) is None


def _ended() -> ScopeBuilder:
    builder = ScopeBuilder()
    builder.ret(X)
    return builder


def _branched() -> ScopeBuilder:
    builder = ScopeBuilder()
    with builder.if_scope(X):
        builder.ret(X)
    return builder


def _open_branch() -> None:
    with ScopeBuilder().if_scope(X):
        pass


def _branch_behind_the_end(builder: ScopeBuilder) -> None:
    with builder.if_scope(X):
        builder.ret(X)


def _else_behind(builder: ScopeBuilder) -> None:
    with builder.else_scope():
        builder.ret(X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _ended().let("y", X), "a statement behind the end of its scope"),
        (lambda: _ended().ret(X), "a statement behind the end of its scope"),
        (lambda: _branch_behind_the_end(_ended()), "a statement behind the end of its scope"),
        (lambda: _branched().let("y", X), "a statement behind the end of its scope"),
        (lambda: _branched().ret(X), "a statement behind the end of its scope"),
        (lambda: _else_behind(ScopeBuilder()), "an else_scope without its if_scope"),
        (lambda: _else_behind(_ended()), "an else_scope without its if_scope"),
        (lambda: ScopeBuilder().get(), "a scope ends without a value"),
        (lambda: _branched().get(), "a scope ends without a value"),
        (_open_branch, "a scope ends without a value"),
    ],
)
def test_statements_in_another_order_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(RelayError, match=message) as caught:
        make()
    assert caught.value.rule == "scope-builder"


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda builder: builder.let("y", 1), "what a variable is bound to is not an expression"),
        (lambda builder: builder.let(1, X), "the variable of a let is not"),
        (lambda builder: builder.ret(1), "what a scope is worth is not an expression"),
        (lambda builder: builder.if_scope(True).__enter__(), "a condition is not an expression"),
    ],
)
def test_what_is_no_expression_is_refused_where_it_is_given(make: Callable[[ScopeBuilder], object], what: str) -> None:
    with pytest.raises(RelayError, match=what) as caught:
        make(ScopeBuilder())
    assert caught.value.rule == "wrong-argument"


def test_a_branch_that_fails_leaves_the_scope_around_it_open() -> None:
    builder, value = ScopeBuilder(), Tuple(())

    def branch() -> None:
        with builder.if_scope(X):
            builder.let("y", X)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        branch()
    builder.ret(value)
    assert builder.get() is value
