"""Modules: made of others, edited in place, and the types of functions that an edit makes void."""

from collections.abc import Callable

import pytest

from relay.base.diagnostics import RelayError
from relay.infer.infer_type import infer_type
from relay.ir.datatype import TypeData
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Let, Tuple, TupleGetItem, Var, const
from relay.ir.module import IRModule
from relay.ir.rewriting import renamed_functions, with_lets
from relay.ir.structural import structural_equal
from relay.ir.types import GlobalTypeVar, TensorType, Type, scalar_type
from relay.ir.variables import bind, forget_types

FLOAT, INT = scalar_type("float32"), scalar_type("int32")
LIST = GlobalTypeVar("List")
NIL, CONS = Constructor("Nil", (), LIST), Constructor("Cons", (FLOAT, LIST), LIST, 1)
X, Y = Var("x"), Var("y")
F, G, H, MAIN = (GlobalVar(name) for name in ("f", "g", "h", "main"))


def refusal(make: Callable[[], object]) -> RelayError:
    with pytest.raises(RelayError) as caught:
        make()
    return caught.value


def test_modules_are_changed_by_making_others() -> None:
    f, g = Function((), const(1)), Function((), const(2))
    module = IRModule({"f": f})
    assert module["f"] is f
    assert module[GlobalVar("f")] is f
    assert "f" in module
    assert "g" not in module
    assert list(module) == [GlobalVar("f")] == list(module.get_global_vars())
    assert module.with_function("f", f) is module
    assert module.with_functions({GlobalVar("f"): f}) is module
    both = module.with_function("g", g)
    assert list(both) == [GlobalVar("f"), GlobalVar("g")]
    assert list(both.with_functions({GlobalVar("g"): g})) == [GlobalVar("g")]
    assert both.with_functions({GlobalVar("f"): f}) is not both
    assert module.with_module(IRModule({"f": g}))["f"] is g
    data = TypeData(LIST, (), (NIL, CONS))
    typed = module.with_type(data)
    assert typed.constructors() == (NIL, CONS)
    assert typed.with_function("g", g).constructors() == (NIL, CONS)
    assert typed.with_functions({GlobalVar("g"): g}).constructors() == (NIL, CONS)
    updated = IRModule({"f": g}).with_module(typed)
    assert (updated["f"], updated.constructors()) == (f, (NIL, CONS))
    assert both.get_global_var("g") == GlobalVar("g")
    assert refusal(lambda: module.get_global_var("h")).rule == "unknown-global"
    assert "@f" in refusal(lambda: module["h"]).expected
    assert "empty" in refusal(lambda: IRModule()["h"]).expected


def test_modules_take_in_others() -> None:
    f, g = Function((), const(1)), Function((), const(2))
    module = IRModule({"f": f})
    module.update({GlobalVar("g"): f})
    module.update_func("g", g)
    assert (module["f"], module["g"]) == (f, g)
    module.update(IRModule({"f": g}).with_type(TypeData(LIST, (), (NIL, CONS))))
    assert module["f"] is g
    assert module.constructors() == (NIL, CONS)


def test_an_expression_becomes_a_main_function() -> None:
    function = Function((X,), X)
    assert IRModule.from_expr(function)["main"] is function
    assert IRModule.from_expr(Tuple((Y, X)))["main"].params == (Y, X)
    assert refusal(lambda: IRModule.from_expr("x")).message == "what becomes the main function is not an expression"


# --------------------------------------------------------------------------------------------------- edited in place


def identity(type_: Type | None = None) -> Function:
    x = Var("x", type_)
    return Function((x,), x)


def edited() -> IRModule:
    """`@main` calls `@g`, which calls `@f`; `@h` calls nobody."""
    y = Var("y", INT)
    functions = {F: identity(INT), G: Function((y,), Tuple((Call(F, (y,)),))), H: identity(INT)}
    main = Function((), TupleGetItem(Call(G, (const(1),)), 0))
    return infer_type(IRModule({**functions, MAIN: main}))


def test_what_reaches_a_function_in_whose_place_another_stands_is_typed_again() -> None:
    module = edited()
    before = dict(module.functions)
    y = Var("y", INT)
    wrapped = Function((y,), Tuple((y, y)))
    module["f"] = wrapped
    assert module[F] is wrapped
    assert module[H] is before[H]
    for name in (G, MAIN):
        assert module[name] is not before[name]
        assert structural_equal(module[name], before[name])
        assert (module[name].checked_type, before[name].checked_type is None) == (None, False)
    assert str(infer_type(module)[MAIN].checked_type) == "fn () -> (int32, int32)"


def test_a_function_that_comes_in_changes_no_other() -> None:
    module = edited()
    before = dict(module.functions)
    module["new"] = identity()
    module["f"] = before[F]
    module.add_type(TypeData(LIST, (), (NIL, CONS)))
    assert dict(module.functions) == {**before, GlobalVar("new"): module["new"]}
    assert module.constructors() == (NIL, CONS)


def test_whoever_looked_at_a_module_before_keeps_what_there_was() -> None:
    module = edited()
    functions, f = module.functions, module[F]
    module["f"] = identity(FLOAT)
    assert functions[F] is f


def test_recursive_functions_are_typed_again_too() -> None:
    x = Var("x", INT)
    loop = Function((x,), Call(G, (x,)), INT)
    other = Function((y := Var("y", INT),), Call(F, (y,)), INT)
    module = infer_type(IRModule({F: loop, G: other}))
    before = module[G]
    module["f"] = identity(INT)
    assert module[G] is not before
    assert module[G].checked_type is None


def test_a_data_type_and_its_constructors_are_found_by_name() -> None:
    module = IRModule()
    assert "defines none" in refusal(lambda: module.get_type("List")).expected
    module.add_type(TypeData(LIST, (), (NIL, CONS)))
    assert module.get_type("List") == (LIST, NIL, CONS)
    error = refusal(lambda: module.get_type("Tree"))
    assert (error.rule, error.expected, error.found) == ("unknown-type", "List", "Tree")


# ------------------------------------------------------------------------------------------------- rewritten functions


def test_types_are_forgotten_where_they_may_change() -> None:
    """Those of variables, and of what is made of them or of the functions named; not of what has neither."""
    module = edited()
    apart, x = Tuple((const(1), const(2))), Var("x", INT)
    calls = Tuple((Call(F, (const(1),)), Call(H, (const(2),)), apart, Tuple((x,))))
    function = infer_type(module.with_function("more", Function((x,), calls)))["more"]
    made = forget_types(function, {F})
    of_f, of_h, still, of_x = made.body.fields
    assert structural_equal(made, function)
    assert (of_f.checked_type, of_x.checked_type, made.body.checked_type, made.checked_type) == (None,) * 4
    assert (of_h.checked_type, still) == (INT, apart)
    assert (made.params[0].checked_type, made.params[0].type_annotation, function.params[0].checked_type) == (
        None, INT, INT,
    )  # fmt: skip


def test_variables_are_bound_to_values_by_themselves_or_by_name() -> None:
    one, two = const(1), const(2)
    function = Function((X, Y), Tuple((X, Y, Var("z"))), None, (), {"k": 1})
    made = bind(function, {X: one, "z": two})
    assert made.params == (Y,)
    assert dict(made.attrs) == {"k": 1}
    assert made.body.fields == (one, Y, two)
    assert bind(Tuple((X, Y)), {"y": one}).fields == (X, one)
    assert bind(function, {}).params == (X, Y)


def test_functions_are_renamed_where_they_stand_and_where_they_are_called() -> None:
    body = Tuple((Call(F, (X,)), Call(H, (X,))))
    functions = {F: Function((X,), body, None, (), {"k": 1}), G: Function((Y,), Call(F, (Y,))), H: identity()}
    new = GlobalVar("new")
    made = renamed_functions(functions, {F: new})
    assert list(made) == [new, G, H]
    assert made[H] is functions[H]
    assert (made[new].params, dict(made[new].attrs)) == ((X,), {"k": 1})
    assert [call.op for call in (*made[new].body.fields, made[G].body)] == [new, H, new]


def test_bindings_stand_around_a_body_in_their_order_with_its_type() -> None:
    body: Expr = const([1.0, 2.0])
    outer = with_lets([(X, const(1)), (Y, X)], body)
    assert isinstance(outer, Let)
    assert isinstance(outer.body, Let)
    assert (outer.var, outer.body.var, outer.body.body) == (X, Y, body)
    assert outer.checked_type == outer.body.checked_type == TensorType((2,), "float32")
    assert with_lets([], body) is body
