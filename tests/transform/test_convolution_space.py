"""What is decided about a convolution before it is part of a kernel: one choice of a space, however it is laid out."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.ir.expr import Call
from relay.ir.traversal import post_order
from relay.te.schedule.choice import Choice, Decision
from relay.te.schedule.records import ScheduleRecord, ScheduleRecords, Subject, choice_as_json
from relay.transform import AlterOpLayout, LayoutPreferences, PassContext
from relay.transform.algorithms.convolution_space import chosen_convolution, convolution_space

PREFERENCES = LayoutPreferences("NHWC", (32, 16), winograd_tile=lambda extents: 4 if extents.rows > 7 else 0)


def convolution(
    channels: int = 48, depth: int = 8, window: int = 3, constant: bool = True, **attributes: object
) -> Call:
    x = relay.var("x", shape=(1, depth, 28, 28))
    shape = (channels, depth // int(str(attributes.get("groups", 1))), window, window)
    weight = relay.const(np.ones(shape, np.float32)) if constant else relay.var("w", shape=shape)
    return relay.nn.conv2d(x, weight, padding=window // 2, **attributes)


def fields(choice: Choice) -> tuple[object, ...]:
    return tuple(choice.values.values())


def test_the_target_decides_all_of_it():
    assert fields(convolution_space(convolution(), PREFERENCES).model()) == ("NHWC", 16, "F(4, 3)")
    assert fields(convolution_space(convolution(64, window=1), PREFERENCES).model()) == ("NHWC", 32, "plain sums")
    assert fields(convolution_space(convolution(constant=False), PREFERENCES).model())[2] == "plain sums"
    grouped = convolution(96, 96, groups=2)
    assert fields(convolution_space(grouped, PREFERENCES).model()) == ("NHWC", 16, "plain sums")


def test_a_space_has_every_choice_once_and_neighbours():
    space = convolution_space(convolution(), PREFERENCES)
    choices = [fields(each) for each in space.choices()]
    assert choices[0] == fields(space.model())
    assert len(set(choices)) == len(choices) == 2 * 2 * 3
    random, choice = Random(0), space.model()
    for _ in range(20):
        other = space.mutate(choice, random)
        assert fields(other) in choices
        assert sum(one != two for one, two in zip(fields(choice), fields(other), strict=True)) == 1
        choice = other


def test_it_is_the_same_in_another_layout():
    source = convolution()
    function = relay.transform.infer_type(relay.IRModule.from_expr(relay.Function([source.args[0]], source)))
    with PassContext(layouts=PREFERENCES):
        laid_out = AlterOpLayout(function)["main"].body
    moved = [each for each in post_order(laid_out) if isinstance(each, Call) and each.op.name == "nn.conv2d"]
    assert moved[0].attrs.kernel_layout == "OHWI16o"
    assert convolution_space(moved[0], PREFERENCES).model() == convolution_space(source, PREFERENCES).model()


def records(text: str, **values: int | str) -> ScheduleRecords:
    decisions = tuple(Decision(name, value, "on record") for name, value in values.items())
    choice = Choice(Subject.CONVOLUTION, decisions)
    return ScheduleRecords.of([ScheduleRecord(text, None, choice=choice, subject=Subject.CONVOLUTION)])


TEXT = "data 1x8x28x28, kernel 48x8x3x3, strides 1x1, padding 1x1x1x1, dilation 1x1, groups 1, float32"


def test_a_choice_is_replayed_and_what_it_leaves_open_is_the_targets():
    for choice in convolution_space(convolution(), PREFERENCES).choices():
        values = choice_as_json(choice)
        del values["family"]
        assert fields(chosen_convolution(convolution(), PREFERENCES, records(TEXT, **values)).choice) == fields(choice)
    found = chosen_convolution(convolution(), PREFERENCES, records(TEXT, width=32))
    assert (found.keeps_channels_first, found.width, found.tile) == (False, 32, 4)


@pytest.mark.parametrize("values", [{"width": 24}, {"algorithm": "F(3, 3)"}, {"layout": "CHWN"}, {"width": "32"}])
def test_what_is_not_possible_is_the_records_fault(values: dict[str, int | str]):
    with pytest.raises(RelayError) as caught:
        chosen_convolution(convolution(), PREFERENCES, records(TEXT, **values))
    assert caught.value.rule == "schedule-record"
    ((_, value),) = values.items()
    assert caught.value.found == str(value)
