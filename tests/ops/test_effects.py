"""Operators of users with effects: no pass drops, merges, repeats or moves them, and compiled programs do the same as
interpreted ones or are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import relay
from relay.operators import (
    Attributes,
    Effect,
    FusionKind,
    NoBatchRule,
    NoCompute,
    NotDifferentiable,
    OwnLayout,
    StatementFault,
    define,
    frozen,
)
from relay.transform.batching.batched import batching
from relay.transform.batching.rows import Refusal
from relay.transform.framework.context import PassContext
from tests.messages import check_message
from tests.ops.test_own_operators import twice
from tests.transform.passes import CHANGES_TYPES, CONTEXT, PASSES
from tests.transform.takers import Takes

NOTES: list[int] = []
FACTS: dict[str, Any] = {
    "gradient": NotDifferentiable("a test"), "fusion": FusionKind.OPAQUE, "layout": OwnLayout("a test"),
    "batch": NoBatchRule("a test"), "support_level": 10,
}  # fmt: skip


@frozen
class NotedAttributes(Attributes):
    tag: int = 0


def note(attributes: NotedAttributes, data: Any) -> Any:
    NOTES.append(attributes.tag)
    return data


def positive(_: Attributes, data: Any) -> Any:
    if (data <= 0).any():
        raise relay.RelayError(rule="not-positive", message="an element is not above 0")
    return data


def small(_: Attributes, data: Any, holds: Any) -> Any:
    if not holds:
        raise relay.RelayError(rule="check-failed", message="too large to be counted")
    return data


NOTED = define(
    "mine.noted", "The input, which is noted.", inputs={"data": "[..]"}, attributes=NotedAttributes,
    type_rule=lambda run, _: run.tensor(0), meaning=note, compute=NoCompute("notes are kept in Python"),
    effect=Effect.STATEFUL, **FACTS,
)  # fmt: skip
POSITIVE = define(
    "mine.positive", "The input, if it is above 0.", inputs={"data": "[..]"}, type_rule=lambda run, _: run.tensor(0),
    meaning=positive, compute=NoCompute("others say it"), effect=Effect.MAY_FAIL,
    formula=lambda _, data: relay.checked(data, relay.all(relay.greater(data, relay.zeros_like(data))), "not above 0"),
    **FACTS,
)  # fmt: skip
SMALL = define(
    "mine.small", "The input, where the second holds.", inputs={"data": "[..]", "holds": "bool[]"},
    type_rule=lambda run, _: run.tensor(0), meaning=small, effect=Effect.MAY_FAIL,
    compute=lambda _, inputs, result: relay.te.compute(result.shape, lambda *i: inputs[0][i], name="small"),
    fault=StatementFault(lambda _: "too large to be counted"), **FACTS,
)  # fmt: skip


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    records = (NOTED, POSITIVE, SMALL)
    for record in records:
        relay.register_operator(record)
    yield
    for record in records:
        relay.unregister_operator(record.name)


HEAD = '#[version = "0.0.5"]\n'
X = "%x: Tensor[(2, 3), float32]"
STATEFUL = {
    "unused": f"def @main({X}) {{ let %a = mine.noted(%x, tag=1); let %b = mine.noted(%x, tag=2); tanh(%x) }}",
    "equal": f"def @main({X}) {{ add(mine.noted(exp(%x), tag=1), mine.noted(exp(%x), tag=1)) }}",
    "shared": f"def @main({X}) {{ %0 = mine.noted(exp(%x), tag=1); %1 = mine.noted(%0, tag=2); nn.relu(add(%0, %1)) }}",
    "in-order": f"""def @main({X}) {{
      let %a = mine.noted(%x, tag=1);
      let %b = mine.noted(tanh(%x), tag=2);
      let %c = mine.noted(%x, tag=3);
      (%c, %a, add(%b, 1f))
    }}""",
    "field-of-a-tuple": f"def @main({X}) {{ %0 = (mine.noted(%x, tag=1), tanh(%x)); %0.1 }}",
    "of-constants": f"def @main({X}) {{ add(%x, mine.noted(2f, tag=1)) }}",
    "branch": f"""def @main({X}) {{
      if (greater(sum(%x), 0f)) {{ mine.noted(%x, tag=1) }} else {{ mine.noted(tanh(%x), tag=2) }}
    }}""",
    "loop": f"""def @loop(%i: int32, {X}, %h: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {{
      if (%i < 1) {{ %h }} else {{ @loop(%i - 1, %x, add(%h, mine.noted(transpose(transpose(%x)), tag=7))) }}
    }}
    def @main({X}) {{ @loop(3, %x, %x) }}""",
    "called-twice": f"""def @main({X}) {{
      let %f = fn (%y: Tensor[(2, 3), float32]) {{ mine.noted(%y, tag=4) }};
      add(%f(%x), %f(tanh(%x)))
    }}""",
    "not-called": f"""def @main({X}) {{
      let %f = fn (%y: Tensor[(2, 3), float32]) {{ mine.noted(%y, tag=4) }};
      tanh(%x)
    }}""",
    "regions": f"""def @main({X}) {{
      let %a = nn.relu(%x);
      let %b = mine.noted(%a, tag=1);
      let %c = add(%b, 1f);
      let %d = mine.noted(%c, tag=2);
      nn.relu(add(%d, %a))
    }}""",
}
MAY_FAIL = {
    "unused": f"def @main({X}) {{ let %a = mine.positive(%x); tanh(%x) }}",
    "field-of-a-tuple": f"def @main({X}) {{ %0 = (mine.positive(%x), tanh(%x)); %0.1 }}",
    "branch": f"def @main({X}) {{ if (greater(sum(%x), 0f)) {{ mine.positive(%x) }} else {{ tanh(%x) }} }}",
    "of-constants": f"def @main({X}) {{ if (greater(sum(%x), 0f)) {{ add(%x, mine.positive(-2f)) }} else {{ %x }} }}",
    "loop": f"""def @loop(%i: int32, {X}, %h: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {{
      if (%i < 1) {{ %h }} else {{ @loop(%i - 1, %x, add(%h, mine.positive(transpose(transpose(%x))))) }}
    }}
    def @main({X}) {{ @loop(cast(sum(%x), dtype="int32"), %x, %x) }}""",
    "after-a-note": f"""def @main({X}) {{
      let %a = mine.noted(%x, tag=1);
      let %b = mine.positive(%a);
      mine.noted(%b, tag=2)
    }}""",
}
PROGRAMS = {
    **{f"stateful-{name}": text for name, text in STATEFUL.items()},
    **{f"failing-{name}": text for name, text in MAY_FAIL.items()},
}
INPUTS = (np.full((2, 3), 0.5, np.float32), np.float32([[1, -2, 3], [4, 5, 6]]), np.full((2, 3), -1, np.float32))


def happened(module: relay.IRModule) -> list[tuple[tuple[int, ...], str | list[Any]]]:
    """For each input, what was noted and in which order, and the result or the rule by which the run ended."""
    found: list[tuple[tuple[int, ...], str | list[Any]]] = []
    for data in INPUTS:
        NOTES.clear()
        try:
            result = relay.create_executor("interpreter", module).evaluate()(data)
            ended: str | list[Any] = [np.asarray(each) for each in (result if isinstance(result, tuple) else (result,))]
        except relay.RelayError as error:
            ended = error.rule
        found.append((tuple(NOTES), ended))
    return found


def assert_same(found: Any, wanted: Any) -> None:
    for (notes, ended), (wanted_notes, wanted_end) in zip(found, wanted, strict=True):
        assert notes == wanted_notes
        if isinstance(wanted_end, str):
            assert ended == wanted_end
        else:
            assert not isinstance(ended, str), ended
            for one, other in zip(ended, wanted_end, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5)


def test_the_interpreter_does_what_the_program_says():
    notes = {name: [noted for noted, _ in happened(relay.parse(HEAD + text))] for name, text in PROGRAMS.items()}
    assert notes["stateful-unused"] == [(1, 2)] * 3
    assert notes["stateful-equal"] == [(1, 1)] * 3
    assert notes["stateful-branch"] == [(1,), (1,), (2,)]
    assert notes["stateful-loop"] == [(7, 7, 7)] * 3
    assert notes["stateful-not-called"] == [()] * 3
    assert notes["failing-after-a-note"] == [(1, 2), (1,), (1,)]


@pytest.mark.parametrize("name", sorted(PASSES.keys() - CHANGES_TYPES))
def test_no_pass_changes_what_happens(name: str) -> None:
    for text in PROGRAMS.values():
        module = relay.transform.infer_type(relay.parse(HEAD + text))
        with CONTEXT:
            after = PASSES[name](module)
        assert_same(happened(after), happened(module))


@pytest.mark.parametrize("opt_level", range(5))
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_level_changes_what_happens(name: str, opt_level: int) -> None:
    module = relay.transform.infer_type(relay.parse(HEAD + PROGRAMS[name]))
    with PassContext(opt_level=opt_level):
        after = relay.transform.level(opt_level)(module)
    assert_same(happened(after), happened(module))


def test_a_recursion_with_effects_is_not_batched():
    tree = "type Tree { Leaf(Tensor[(3,), float32]), Node(Tree, Tree) }\n"
    body = "match (%t) { Leaf(%y) => mine.noted(%y, tag=1), Node(%l, %r) => add(@main(%l), @main(%r)) }"
    module = relay.parse(f"{HEAD}{tree}def @main(%t: Tree) -> Tensor[(3,), float32] {{ {body} }}")
    found = batching(module)[relay.GlobalVar("main")]
    assert isinstance(found, Refusal)
    assert found.reason == "calls mine.noted, which has effects"


@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("name", MAY_FAIL)
def test_compiled_programs_fail_where_interpreted_ones_do(name: str, opt_level: int) -> None:
    """The operator is written by one that compiled programs have; where notes are kept is no code."""
    if "noted" in MAY_FAIL[name]:
        return
    module = relay.transform.infer_type(relay.parse(HEAD + MAY_FAIL[name]))
    executable = relay.build(relay.transform.Legalize(["mine.positive"])(module), opt_level=opt_level)
    for data, (_, ended) in zip(INPUTS, happened(module), strict=True):
        if isinstance(ended, str):
            with pytest.raises(relay.RelayError, match="not above 0"):
                executable(data)
        else:
            np.testing.assert_allclose(executable(data), ended[0], rtol=1e-5)


@pytest.mark.parametrize("opt_level", [0, 3])
def test_what_a_record_says_of_its_failures_is_compiled(opt_level: int) -> None:
    text = f"def @main({X}) {{ let %a = mine.small(%x, less(sum(%x), 4f)); multiply(%a, 2f) }}"
    module = relay.parse(HEAD + text)
    executable = relay.build(module, opt_level=opt_level)
    np.testing.assert_array_equal(executable(INPUTS[0]), INPUTS[0] * 2)
    for run in (executable, relay.create_executor("interpreter", module).evaluate()):
        with pytest.raises(relay.RelayError, match="too large to be counted"):
            run(INPUTS[1])


@pytest.mark.parametrize("operator", ["noted", "positive"])
def test_what_has_no_loops_is_refused_with_a_remedy(operator: str) -> None:
    module = relay.parse(f"{HEAD}def @main({X}) {{ tanh(mine.{operator}(%x)) }}")
    with pytest.raises(relay.RelayError) as caught:
        relay.build(module)
    check_message("ops", f"no_loops_{operator}", caught.value)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("state_in_loops", {"effect": Effect.STATEFUL, "fusion": FusionKind.OPAQUE}),
        ("loops_that_do_not_fail", {"effect": Effect.MAY_FAIL, "fusion": FusionKind.OPAQUE}),
        ("fused", {"effect": Effect.STATEFUL, "compute": NoCompute("a test")}),
    ],
)
def test_effects_that_kernels_would_not_have_are_refused(name: str, facts: dict[str, Any]) -> None:
    with pytest.raises(relay.RelayError) as caught:
        twice("mine.effect", batch=NoBatchRule("a test"), **facts)
    message = re.sub(r"  at .*\n.*\n", "", f"{caught.value}")  # the line of the other file
    check_message("ops", f"effect_{name}", message)


@pytest.mark.parametrize("taken", [["mine.noted"], ["mine.noted", "add"], ["add", "nn.relu"], ["mine.positive"]])
def test_regions_of_other_compilers_keep_what_happens(taken: list[str]) -> None:
    passes = (
        relay.transform.AnnotateTarget(["other"]),
        relay.transform.MergeCompilerRegions(),
        relay.transform.PartitionGraph(),
    )
    for text in PROGRAMS.values():
        module = relay.transform.infer_type(relay.parse(HEAD + text))
        after = module
        with relay.PassContext(external_compilers={"other": Takes.always(*taken)}):
            for each in passes:
                after = each(after)
        assert_same(happened(after), happened(module))
