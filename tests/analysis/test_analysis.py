"""Effects, call graphs and features of programs."""

import pytest

from relay.analysis import Feature, call_graph, detect_feature, effects_of, effects_of_call
from relay.ir.expr import GlobalVar, Tuple, Var
from relay.ir.operator import Conflict, Effect, Operator
from relay.text.module_parser import parse, parse_expr


def operator(name, effect=Effect.PURE):
    return name, Operator(name, ("x",), lambda types, attributes: Conflict("none", ""), effect=effect)


OPERATORS = dict(
    [
        operator("add"),
        operator("exp"),
        operator("check", Effect.MAY_FAIL),
        operator("print", Effect.STATEFUL),
    ]
)
FREE = "free_var %x; free_var %f; free_var %r; "


def effects(text):
    return effects_of(parse_expr(FREE + text, OPERATORS))


@pytest.mark.parametrize(
    ("text", "kind", "removable"),
    [
        ("add(exp(%x), 1)", Effect.PURE, True),
        ("(check(%x), 1)", Effect.MAY_FAIL, False),
        ("print(%x)", Effect.STATEFUL, False),
        ("ref(%x)", Effect.STATEFUL, True),
        ("ref_read(%r)", Effect.STATEFUL, True),
        ("ref_write(%r, 1)", Effect.STATEFUL, False),
        ("fn () { ref_write(%r, 1) }", Effect.PURE, True),
        ("(fn () { ref_write(%r, 1) })()", Effect.STATEFUL, False),
        ("let %g = fn (%y) { exp(%y) }; %g(%x)", Effect.PURE, True),
        ("let %g = fn (%y) { print(%y) }; let %h = %g; %h(%x)", Effect.STATEFUL, False),
        ("%f(%x)", Effect.STATEFUL, False),
        ("let %loop = fn (%y) { %loop(%y) }; %loop(%x)", Effect.PURE, False),
        ("match? (%x) { (_, _) => 1 }", Effect.MAY_FAIL, False),
        ("if (%x) { 1 } else { print(2) }", Effect.STATEFUL, False),
        # an inner function that calls the outer one does what the outer one does
        ("let %o = fn () { let %i = fn () { %o() }; print(%x); %i }; %o()", Effect.STATEFUL, False),
    ],
)
def test_effects(text, kind, removable):
    found = effects(text)
    assert (found.kind, found.is_removable) == (kind, removable)


def test_what_is_repeatable():
    assert effects("check(%x)").is_repeatable
    assert not effects("ref_read(%r)").is_repeatable


MODULE = """#[version = "0.0.5"]
def @even(%n) { if (%n) { True } else { @odd(%n) } }
def @odd(%n) { print(1); @even(%n) }
def @pure(%n) { exp(%n) }
def @main(%n) { (@even(%n), @pure(%n)) }
def @unused() { @main(1) }
"""


def test_effects_of_globals():
    module = parse(MODULE, OPERATORS)
    assert effects_of_call(GlobalVar("even"), module).stateful
    assert effects_of_call(GlobalVar("even"), module).may_diverge
    assert effects_of_call(GlobalVar("pure"), module).kind is Effect.PURE
    assert effects_of_call(module["main"], module).stateful
    assert effects_of_call(GlobalVar("elsewhere"), module).writes


def test_call_graph():
    graph = call_graph(parse(MODULE, OPERATORS))
    names = [{name.name_hint for name in group} for group in graph.components]
    assert names == [{"even", "odd"}, {"pure"}, {"main"}, {"unused"}]
    assert GlobalVar("odd") in graph.recursive
    assert GlobalVar("main") not in graph.recursive
    assert [name.name_hint for name in graph.callers(GlobalVar("main"))] == ["unused"]
    assert GlobalVar("unused") not in graph.reachable([GlobalVar("main")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", "fConstant"),
        ("add(%x, 1)", "fConstant fVar fCall fOp"),
        ("%0 = (%x, 1); (%0, %0)", "fConstant fVar fTuple fGraph"),
        ("(%x, %x).0", "fVar fTuple fTupleGetItem"),
        ("let %y = 1; %y", "fConstant fVar fLet"),
        ("let %g = fn () { %g() }; %g", "fVar fLet fFunction fCall fLetRec"),
        ("let %g = fn () { 1 }; %g", "fVar fLet fFunction fConstant"),
        ("if (%x) { @main } else { ref(%r)^ }", "fVar fIf fGlobalVar fRefCreate fRefRead"),
        ("match (%x) { _ => (%r := 1) }", "fVar fMatch fRefWrite fConstant"),
    ],
)
def test_features(text, expected):
    found = detect_feature(parse_expr(FREE + text, OPERATORS))
    assert {feature.name for feature in found} == set(expected.split())


def test_there_are_seventeen_features():
    assert [feature.value for feature in Feature] == list(range(17))
    assert detect_feature(Tuple((Var("x"),))) == {Feature.fVar, Feature.fTuple}
