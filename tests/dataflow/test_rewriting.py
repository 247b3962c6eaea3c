"""Rewriting and partitioning what patterns match."""

from __future__ import annotations

import pytest

import relay
from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.floating_point import FloatingPointClass
from relay.dataflow_pattern import (
    DFPatternCallback,
    Domain,
    RuleSet,
    dominates,
    is_constant,
    is_function,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    rewrite,
    rule,
    wildcard,
)
from relay.ir.expr import Call, Constant, Function, GlobalVar
from tests.growth import is_linear
from tests.messages import check_message

HEADER = '#[version = "0.0.5"]\n'
x = relay.var("x", shape=(2, 3))


class ReluToClip(DFPatternCallback):
    def __init__(self, **options: bool) -> None:
        super().__init__(**options)
        self.x = wildcard()
        self.pattern = is_op("nn.relu")(self.x)

    def callback(self, pre, post, node_map):
        return relay.clip(node_map[self.x][0], 0, 100)


class TwiceIsOnce(DFPatternCallback):
    def __init__(self) -> None:
        super().__init__()
        self.inner = is_op("clip")(wildcard())
        self.pattern = is_op("clip")(self.inner)

    def callback(self, pre, post, node_map):
        return node_map[self.inner][0]


class Wrap(DFPatternCallback):
    def __init__(self, rewrite_once: bool) -> None:
        super().__init__(rewrite_once=rewrite_once)
        self.pattern = is_op("tanh")(wildcard())

    def callback(self, pre, post, node_map):
        return relay.nn.relu(post)


def shown(expr) -> str:
    text = relay.astext(expr, show_meta_data=False, show_types=False).removeprefix(HEADER)
    return text.removeprefix("free_var %x: Tensor[(2, 3), float32];\n").strip()


def test_callbacks_rewrite_until_nothing_matches():
    function = Function((x,), relay.tanh(relay.nn.relu(relay.nn.relu(x))))
    result = rewrite([ReluToClip(), TwiceIsOnce()], function)
    assert shown(result.body) == "%0 = clip(%x, a_min=0.0, a_max=100.0);\ntanh(%0)"
    assert result.body.checked_type == x.checked_type


def test_what_nothing_matches_is_the_same_object():
    function = Function((x,), relay.tanh(x))
    assert rewrite(ReluToClip(), function) is function


def test_once_is_once():
    result = rewrite(Wrap(rewrite_once=True), relay.tanh(relay.tanh(x)))
    assert shown(result) == "%0 = tanh(%x);\n%1 = nn.relu(%0);\n%2 = tanh(%1);\nnn.relu(%2)"


def test_a_callback_without_end():
    with pytest.raises(RelayError) as caught:
        rewrite(Wrap(rewrite_once=False), relay.tanh(x))
    check_message("dataflow", "endless-rewriting", caught.value)


def test_a_callback_that_changes_the_type():
    class Casts(ReluToClip):
        def callback(self, pre, post, node_map):
            return relay.cast(post, "int32")

    class Nothing(ReluToClip):
        def callback(self, pre, post, node_map):
            return None

    for name, callback in (("other-type", Casts()), ("no-expression", Nothing())):
        with pytest.raises(RelayError) as caught:
            rewrite(callback, relay.parse(HEADER + "def @main(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }")["main"])
        check_message("dataflow", name, caught.value)


def test_nodes_that_inference_alone_can_type_are_typed_by_it():
    class Calls(ReluToClip):
        def callback(self, pre, post, node_map):
            return Call(GlobalVar("f"), (node_map[self.x][0],))

    module = relay.parse(HEADER + "def @f(%a: Tensor[(2, 3), float32]) { tanh(%a) }\n"
                         "def @main(%x: Tensor[(2, 3), float32]) { add(nn.relu(%x), %x) }")  # fmt: skip
    changed = rewrite(Calls(), module["main"])
    assert changed.checked_type is None
    typed = relay.transform.infer_type(module.with_function("main", changed))
    assert typed["main"].body.args[0].checked_type == x.checked_type


def conv_program():
    data = relay.var("data", shape=(1, 3, 8, 8))
    weight = relay.var("weight", shape=(3, 3, 3, 3))
    conv = relay.nn.conv2d(data, weight, padding=(1, 1), channels=3, kernel_size=(3, 3))
    return data, weight, conv


CONV_RELU = is_op("nn.relu")(is_op("nn.conv2d")(wildcard(), wildcard()))


class Outermost(DFPatternCallback):
    """Counts what it is given, and replaces it."""

    def __init__(self) -> None:
        super().__init__()
        self.met: list[str] = []
        self.pattern = is_op("tanh")(wildcard()).optional(lambda tanh: is_op("add")(tanh, wildcard()))
        self.pattern = self.pattern.optional(lambda inner: is_op("nn.relu")(inner))

    def callback(self, pre, post, node_map):
        self.met.append(post.op.name)
        return relay.exp(x)


@pytest.mark.parametrize(
    ("expr", "met"),
    [
        (relay.nn.relu(relay.tanh(x) + x), ["nn.relu"]),
        (relay.exp(relay.tanh(x) + x), ["add"]),
        (relay.nn.relu(relay.tanh(x)), ["nn.relu"]),
        (relay.tanh(relay.nn.relu(relay.tanh(x) + x)), ["nn.relu", "tanh"]),
        (relay.nn.relu(relay.nn.relu(relay.tanh(x))), ["nn.relu"]),
    ],
)
def test_an_optional_part_belongs_to_the_match(expr, met):
    callback = Outermost()
    callback.rewrite(expr)
    assert callback.met == met


def test_what_others_use_is_matched_without_its_optional_part():
    tanh = relay.tanh(x)
    callback = Outermost()
    callback.rewrite(relay.Tuple([relay.nn.relu(tanh), tanh]))
    assert callback.met == ["tanh"]


def test_optional_parts_are_found_in_what_callbacks_give_too():
    class Cosine(DFPatternCallback):
        def __init__(self):
            super().__init__()
            self.pattern = is_op("cos")(wildcard())

        def callback(self, pre, post, node_map):
            return relay.nn.relu(relay.tanh(post.args[0]))

    callback = Outermost()
    rewrite([Cosine(), callback], relay.exp(relay.cos(x)))
    assert callback.met == ["nn.relu"]


def test_partition_makes_functions():
    data, weight, conv = conv_program()
    function = Function((data, weight), relay.tanh(relay.nn.relu(conv)))
    result = CONV_RELU.partition(function, {"Composite": "mine.conv_relu"})
    call = result.body.args[0]
    assert dict(call.op.attrs) == {"Composite": "mine.conv_relu", "PartitionedFromPattern": "nn.conv2d_nn.relu_"}
    assert call.args == (data, weight)
    assert relay.analysis.well_formed(result) == ()
    assert call.checked_type == conv.checked_type
    assert CONV_RELU.partition(result, {"Composite": "mine.conv_relu"}) is result, "it is done once"


def test_partition_refuses_what_is_used_outside():
    _, _, conv = conv_program()
    expr = relay.add(relay.nn.relu(conv), conv)
    assert CONV_RELU.partition(expr) is expr


def test_partition_asks():
    _, _, conv = conv_program()
    expr = relay.nn.relu(conv)
    assert CONV_RELU.partition(expr, check=lambda root: False) is expr


def test_partition_of_a_diamond_and_of_constants():
    data, weight, conv = conv_program()
    relu = relay.nn.relu(conv)
    pattern = dominates(
        is_op("nn.conv2d")(wildcard(), wildcard()), is_op("nn.relu")(wildcard()) | is_op("tanh")(wildcard()),
        is_op("add")(wildcard(), wildcard()),
    )  # fmt: skip
    call = pattern.partition(relay.add(relay.tanh(relu), relu))
    assert call.args == (data, weight)
    assert call.op.attrs["PartitionedFromPattern"] == "nn.conv2d_nn.relu_tanh_add_"
    scaled = relay.multiply(x, relay.const(2.0))
    inside = is_op("multiply")(wildcard(), is_constant()).partition(scaled)
    assert len(inside.args) == 1
    assert isinstance(inside.op.body.args[1], Constant)
    outside = is_op("multiply")(wildcard(), wildcard()).partition(scaled)
    assert len(outside.args) == 2


def test_partition_of_a_field():
    parts = relay.split(x, 3, axis=1)
    pattern = is_op("nn.relu")(is_tuple_get_item(is_op("split")(wildcard()), 0))
    call = pattern.partition(relay.nn.relu(parts[0]))
    assert call.args == (x,)


def test_what_stands_in_a_scope_stays_there():
    y, w = relay.var("y", shape=(2, 3)), relay.var("w", shape=(2, 3))
    called = Call(Function((y,), relay.nn.relu(relay.tanh(y) + w)), (relay.exp(x),))
    for body in (wildcard(), is_op("nn.relu")(wildcard())):
        result = is_function(None, body)(wildcard()).partition(relay.Function((x, w), called))
        assert relay.analysis.well_formed(result) == ()
        assert len(result.body.args) == 2, "exp(x) and w"
        assert isinstance(result.body.op.body.op, Function), "the function is inside, and so is its body"
    condition = relay.var("c", shape=(), dtype="bool")
    choice = relay.If(condition, relay.exp(x), relay.tanh(x))
    call = is_if(wildcard(), wildcard(), wildcard()).partition(choice)
    assert call.args == (condition, x)
    let = relay.Let(y, relay.exp(x), relay.tanh(y))
    assert is_let(wildcard(), wildcard(), wildcard()).partition(let).args == (let.value,)


def test_matches_do_not_overlap():
    twice = is_op("nn.relu")(is_op("nn.relu")(wildcard()))
    expr = relay.nn.relu(relay.nn.relu(relay.nn.relu(x)))
    call = twice.partition(expr)
    assert shown(call.args[0]) == "nn.relu(%x)"


def test_rules_that_go_in_circles_are_named():
    a, b = wildcard(), wildcard()
    circle = RuleSet([
        rule("to-difference", a + b, a - is_op("negative")(b), domain=Domain.FLOATS),
        rule("to-sum", a - is_op("negative")(b), a + b, domain=Domain.FLOATS),
    ])  # fmt: skip
    with pytest.raises(CompilerBug, match="these go in circles: to-"):
        circle.apply(relay.add(x, x), level=0)


FIRST = RuleSet(
    [rule("first", is_tuple_get_item(is_tuple([a := wildcard(), wildcard()]), 0), a, domain=Domain.ANYTHING)]
)


@pytest.mark.parametrize(
    ("dropped", "fires"),
    [
        ("exp(%x)", True),
        ("fn (%y: float32) -> float32 { %f(%y) }", True),
        ("match (%s) { On => 1f, Off => 2f }", True),
        ("match? (%s) { On => 1f }", False),
        ("ref_read(%r)", True),
        ("(%r := %x)", False),
        ("%f(%x)", False),
        ("@loop(%x)", False),
    ],
)
def test_a_rule_drops_nothing_whose_evaluation_could_be_noticed(dropped, fires):
    module = relay.transform.infer_type(relay.parse(
        HEADER + "type Switch { On, Off, }\ndef @loop(%x: float32) -> float32 { @loop(%x) }\n"
        "def @main(%x: float32, %s: Switch, %r: ref(float32), %f: fn (float32) -> float32) {"
        f" (exp(%x), {dropped}).0 }}"
    ))  # fmt: skip
    body = module["main"].body
    assert (FIRST.apply(body, level=0) is not body) == fires


def test_a_rule_hands_on_what_could_be_noticed():
    module = relay.transform.infer_type(relay.parse(
        HEADER + "def @main(%x: float32, %f: fn (float32) -> float32) { (exp(%f(%x)), %x).0 }"
    ))  # fmt: skip
    body = module["main"].body
    assert FIRST.apply(body, level=0) is body.tuple_value.fields[0]


def test_a_level_allows_rules():
    a = wildcard()
    fast = RuleSet([rule("itself", a - a, a * 0.0, domain=Domain.FLOATS, floating_point=FloatingPointClass.FAST_MATH)])
    expr = relay.subtract(x, x)
    assert fast.apply(expr, level=3) is expr
    assert fast.apply(expr, level=4) is not expr
    assert str(fast.rules[0]) == "itself (FAST_MATH, from -O4)"


def test_rewriting_is_linear_and_not_recursive():
    def chain(length: int) -> None:
        expr = x
        for _ in range(length):
            expr = relay.tanh(relay.nn.relu(expr))
        rewrite(ReluToClip(), expr)
        CONV_RELU.partition(expr)

    assert is_linear(chain, 150)
    chain(2_000)
