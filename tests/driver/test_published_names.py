"""The names that programs written for the published Relay lean on, used as those programs use them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay
from relay import RelayError, analysis, transform
from tests.pages import run_page

X = relay.var("x", shape=(3,))
Y = relay.var("y", shape=(3,))
ONES = np.ones(3, np.float32)


def test_scope_builder_builds_lets_and_branches() -> None:
    builder = relay.ScopeBuilder()
    doubled = builder.let("doubled", X + X)
    with builder.if_scope(relay.sum(doubled) > 0.0):
        builder.ret(doubled)
    with builder.else_scope():
        negated = builder.let(relay.var("negated", shape=(3,)), -doubled)
        builder.ret(negated * 2.0)
    run = relay.build(relay.Function([X], builder.get()))
    np.testing.assert_array_equal(run(ONES), 2 * ONES)
    np.testing.assert_array_equal(run(-ONES), 4 * ONES)


def _behind_the_end(builder: relay.ScopeBuilder) -> None:
    builder.ret(X)
    builder.let("y", X)


def _without_if(builder: relay.ScopeBuilder) -> None:
    with builder.else_scope():
        builder.ret(X)


def _without_else(builder: relay.ScopeBuilder) -> None:
    with builder.if_scope(relay.const(True)):
        builder.ret(X)
    builder.get()


@pytest.mark.parametrize(
    ("misuse", "text"),
    [
        (_behind_the_end, "a statement behind the end of its scope"),
        (_without_if, "an else_scope without its if_scope"),
        (_without_else, "a scope ends without a value"),
    ],
)
def test_scope_builder_misused(misuse: Any, text: str) -> None:
    with pytest.raises(RelayError, match=text) as caught:
        misuse(relay.ScopeBuilder())
    assert caught.value.rule == "scope-builder"


def test_bind_replaces_free_variables_and_parameters() -> None:
    assert relay.structural_equal(relay.bind(X + Y, {Y: X}), X + X)
    bound = relay.bind(relay.Function([X, Y], X + Y), {"y": relay.const(ONES)})
    assert isinstance(bound, relay.Function)
    assert bound.params == (X,)
    np.testing.assert_array_equal(relay.build(bound)(ONES), 2 * ONES)


def test_operators_by_name_are_equal() -> None:
    assert relay.op.get("add") == (X + Y).op == relay.op.get("add")
    assert relay.op.get("add") != relay.op.get("subtract")
    assert len({relay.op.get("nn.relu"), relay.op.get("nn.relu")}) == 1
    with pytest.raises(RelayError, match=r"there is no operator `nn\.rleu`") as caught:
        relay.op.get("nn.rleu")
    assert "nn.relu" in caught.value.remedy


def test_expressions_as_python_writes_them() -> None:
    assert X.astype("float16").checked_type == relay.TensorType((3,), "float16")
    pair = relay.var("pair", relay.TupleType([relay.TensorType((3,)), relay.TensorType((3,))]))
    first, second = pair
    assert pair[-1].index == second.index == 1
    assert relay.Tuple([X, Y])[0] is X
    run = relay.build(relay.Function([pair], first // 2.0 + second % 2.0 + 2.0**second))
    np.testing.assert_array_equal(run((5 * ONES, 3 * ONES)), 2 + 1 + 8 * ONES)
    with pytest.raises(RelayError, match="not known to be a tuple"):
        X[0]
    with pytest.raises(RelayError, match="not known to be a tuple") as caught:
        relay.var("untyped")[0]
    assert caught.value.rule == "not-a-tuple"
    with pytest.raises(IndexError):
        pair[2]


def test_modules_are_edited_in_place() -> None:
    module = relay.IRModule()
    double = relay.GlobalVar("double")
    module[double] = relay.Function([X], X + X)
    module["main"] = relay.Function([Y], double(Y))
    first = relay.build(module)
    module.update_func(double, relay.Function([X], X * 3.0))
    np.testing.assert_array_equal(first(ONES), 2 * ONES)
    np.testing.assert_array_equal(relay.build(module)(ONES), 3 * ONES)
    module.update({relay.GlobalVar("other"): relay.Function([X], X)})
    assert [each.name_hint for each in module.get_global_vars()] == ["double", "main", "other"]
    with pytest.raises(RelayError, match="is not a function"):
        module["main"] = X  # type: ignore[assignment]


def test_a_stage_is_of_the_module_as_it_was() -> None:
    module = relay.IRModule.from_expr(relay.Function([X], X + X))
    stages = relay.driver.compile_stages(module)
    module["main"] = relay.Function([X], X)
    assert "add" in str(stages.typed)


def test_types_of_calls_follow_an_edited_function() -> None:
    module = relay.IRModule()
    widen = relay.GlobalVar("widen")
    module[widen] = relay.Function([X], X)
    module["main"] = relay.Function([Y], widen(Y))
    module["outer"] = relay.Function([], relay.Tuple([relay.GlobalVar("main")(relay.const(ONES)), widen]))
    np.testing.assert_array_equal(relay.build(module)(ONES), ONES)
    module[widen] = relay.Function([X], X.astype("float64"))
    typed = transform.InferType()(module)
    wide = relay.TensorType((3,), "float64")
    assert typed["main"].checked_type.ret_type == wide
    assert typed["outer"].checked_type.ret_type.fields == (wide, relay.FuncType((relay.TensorType((3,)),), wide))
    assert relay.build(module)(ONES).dtype == np.float64


def test_the_prelude_is_taken_in_by_a_module() -> None:
    module = relay.IRModule()
    prelude = relay.Prelude(module)
    assert prelude.mod is module
    list_type, *constructors = module.get_type("List")
    assert list_type.name == "List"
    assert {each.name_hint for each in constructors} == {"Nil", "Cons"}
    module["main"] = relay.Function([], prelude.sum(prelude.cons(relay.const(2), prelude.nil())))
    assert relay.build(module)() == 2
    with pytest.raises(RelayError, match="no data type Lsit"):
        module.get_type("Lsit")


def test_faces_under_their_published_names() -> None:
    assert relay.expr.Call is relay.Call
    assert relay.expr_functor.ExprVisitor is relay.ExprVisitor
    assert relay.ty.TensorType((relay.Any(), 3)).dtype == "float32"
    assert relay.adt.Match is relay.Match
    assert relay.TypeData is relay.adt.TypeData
    text = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(3), float32]) { %x }'
    assert relay.structural_equal(relay.fromtext(text), relay.parse(text))
    assert relay.TensorType((2, 3)).concrete_shape == (2, 3)
    with pytest.raises(RelayError, match="an extent is no number before the program runs"):
        _ = relay.TensorType((relay.Any(),)).concrete_shape


def test_post_order_visit_sees_each_node_once() -> None:
    seen: list[relay.Expr] = []
    analysis.post_order_visit(relay.multiply(doubled := X + X, doubled), seen.append)
    assert [type(each).__name__ for each in seen] == ["Op", "Op", "Var", "Call", "Call"]
    assert seen[-1].op == relay.op.get("multiply")  # type: ignore[union-attr]


def test_single_expressions_are_typed_and_transformed() -> None:
    assert relay.testing.run_infer_type(relay.Function([X], X + X)).checked_type.ret_type == relay.TensorType((3,))
    folded = relay.testing.run_opt_pass(relay.const(1) + relay.const(2), transform.FoldConstant())
    assert isinstance(folded, relay.Constant)


def test_executors_know_their_device() -> None:
    module = relay.IRModule.from_expr(relay.Function([X], X + X))
    for kind in ("graph", "vm", "aot", "debug"):
        run = relay.create_executor(kind, mod=module, device="cpu", target="llvm").evaluate()
        np.testing.assert_array_equal(run(ONES), 2 * ONES)
    with pytest.raises(RelayError, match="runs on another device") as caught:
        relay.create_executor("vm", mod=module, device="cuda")
    assert caught.value.rule == "wrong-device"


def test_optimize_gives_the_module_and_what_is_left_to_bind() -> None:
    module, params = relay.optimize(relay.Function([X, Y], relay.nn.relu(X) + Y), params={"y": ONES})
    assert params == {}
    assert "Primitive" in str(module)
    assert len(module["main"].params) == 1


@transform.function_pass(opt_level=1)
class ReplaceOperator:
    """Calls of one operator become calls of another."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = relay.op.get(old), relay.op.get(new)

    def transform_function(
        self, func: relay.Function, mod: relay.IRModule, ctx: transform.PassContext
    ) -> relay.Function:
        outer = self

        class Replace(relay.ExprMutator):
            def visit_call(self, call: relay.Call) -> relay.Expr:
                call = super().visit_call(call)
                return relay.Call(outer.new, call.args, call.attrs) if call.op == outer.old else call

        return Replace().visit(func)


def test_passes_as_classes() -> None:
    sequence = transform.Sequential([ReplaceOperator("add", "multiply"), transform.FoldConstant()])
    module = sequence(relay.IRModule.from_expr(relay.Function([X], X + relay.const(ONES * 5))))
    np.testing.assert_array_equal(relay.build(module)(ONES * 2), 10 * ONES)
    assert "ReplaceOperator" in str(ReplaceOperator("add", "multiply"))
    with pytest.raises(RelayError, match="does not say what its passes do"):
        transform.module_pass(opt_level=1)(type("Empty", (), {}))


def test_loops_are_functions_of_their_first_values() -> None:
    i, total = relay.var("i", "int32"), relay.var("total", shape=(3,))

    def step(i: relay.Expr, total: relay.Expr) -> Sequence[relay.Expr]:
        return [i + 1, total + total]

    loop = relay.while_loop(lambda i, total: i < 4, [i, total], step)
    start = relay.var("start", shape=(3,))
    run = relay.build(relay.Function([start], relay.TupleGetItem(loop(relay.const(0), start), 1)))
    np.testing.assert_array_equal(run(ONES), 16 * ONES)


def test_the_page_runs(tmp_path: Path) -> None:
    run_page("from_relay.md", tmp_path)
