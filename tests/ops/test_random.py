"""Random numbers: the published words, keys that never meet, and numbers that are spread as they should be."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay import random
from relay.base.dtypes import DType
from relay.ops.creation.random import DistributionAttributes
from relay.ops.creation.threefry import NUMBERS, draw, key_of, split
from relay.ops.framework.record import OperatorRecord
from relay.ops.table import OPERATORS
from tests.messages import check_message
from tests.ops.cases_random import FULL


def words(*texts: str) -> list[np.ndarray]:
    return [np.asarray(int(text, 16), np.uint64) for text in texts]


ZERO, ONES = ("0",) * 4, ("f" * 16,) * 4


@pytest.mark.parametrize(
    ("key", "counter", "encrypted"),
    [
        (ZERO, ZERO, "09218ebde6c85537 55941f5266d86105 4bd25e16282434dc ee29ec846bd2e40b"),
        (ONES, ONES, "29c24097942bba1b 0371bbfb0f6f4e11 3c231ffa33f83a1c cd29113fde32d168"),
    ],
)
def test_published_words_of_threefry(key, counter, encrypted):
    with np.errstate(over="ignore"):
        found = NUMBERS.encrypted(words(*key), words(*counter))
    assert " ".join(f"{int(word):016x}" for word in found) == encrypted


def test_words_do_not_depend_on_how_many_are_drawn_at_once():
    together = draw(key_of(3), 12)
    following, first = draw(key_of(3), 5)  # two blocks
    last, second = draw(following, 4)
    np.testing.assert_array_equal(np.concatenate([first, second]), np.concatenate([together[1][:5], together[1][8:]]))
    np.testing.assert_array_equal(last, together[0])


def test_keys_that_split_never_draw_the_same_words():
    keys, drawn = [key_of(11), FULL], []
    for _ in range(6):
        children = [child for key in keys for child in split(draw(key, 4)[0])]
        drawn += [word for key in keys for word in draw(key, 4)[1].tolist()]
        keys = children
    drawn += [word for key in keys for word in draw(key, 8)[1].tolist()]
    assert len(set(drawn)) == len(drawn)


def test_a_path_longer_than_its_words_goes_on():
    key, seen = key_of(1), set()
    for step in range(300):
        left, right = split(key)
        key = right if step % 3 else left
        seen.add(draw(left, 1)[1].tobytes() + draw(right, 1)[1].tobytes())
    assert len(seen) == 300


def numbers(name: str, count: int, first: float, second: float) -> np.ndarray:
    record = OPERATORS[f"random.{name}"]
    bounds = (np.float64(first), np.float64(second))
    return record.meaning(DistributionAttributes((count,), DType.FLOAT64), key_of(5), *bounds)[1]


def test_uniform_numbers_are_spread_evenly():
    found = numbers("uniform", 40_000, -1.0, 3.0)
    counts = np.histogram(found, 40, (-1.0, 3.0))[0]
    assert found.min() >= -1.0
    assert found.max() < 3.0
    assert ((counts - 1000) ** 2 / 1000).sum() < 75  # chi squared of 39 degrees of freedom: 1 in 2,000 is above


def test_normal_numbers_have_their_moments():
    found = (numbers("normal", 40_000, 2.0, 3.0) - 2.0) / 3.0
    moments = [(found**power).mean() for power in (1, 2, 3, 4)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.1)
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.02


def test_places_are_drawn_as_often_as_their_share():
    shares = np.float32([[0, 1, 2, 1], [3, 0, 0, 0]])
    _, places = random.multinomial(random.threefry_key(9), shares, 4000)
    module = relay.IRModule.from_expr(relay.Function([], places))
    found = np.asarray(relay.create_executor("interpreter", module).evaluate()())
    assert found.dtype == np.int32
    np.testing.assert_allclose(np.bincount(found[0], minlength=4) / 4000, [0, 0.25, 0.5, 0.25], atol=0.03)
    assert not found[1].any()


PROGRAM = """#[version = "0.0.5"]
def @main(%key: Tensor[(10), uint64], %x: Tensor[(n, 3), float32]) {
  %0 = random.threefry_split(%key);
  %1 = random.normal(%0.1, 0f, 1f, out_shape=[4, 3]);
  let %words = random.threefry_generate(%0.0, out_shape=[2, 5]);
  (add(%1.1, sum(%x, axis=[0])), %words)
}"""


@pytest.mark.parametrize("opt_level", [0, 3])
def test_compiled_programs_draw_what_they_mean(opt_level):
    module, x = relay.parse(PROGRAM), np.ones((2, 3), np.float32)
    shifted, (key, drawn) = relay.build(module, opt_level=opt_level)(key_of(1), x)
    wanted, (wanted_key, wanted_drawn) = relay.create_executor("interpreter", module).evaluate()(key_of(1), x)
    np.testing.assert_array_equal(key, wanted_key)
    np.testing.assert_array_equal(drawn, wanted_drawn)
    np.testing.assert_allclose(shifted, wanted, rtol=1e-6, atol=1e-6)


def test_equal_draws_are_one_and_unused_ones_none():
    key = relay.var("key", shape=(10,), dtype="uint64")
    first, second = (random.threefry_generate(key, (2,)) for _ in range(2))
    unused = relay.Let(relay.var("unused"), random.threefry_split(key).astuple(), relay.Tuple((first[1], second[1])))
    module = relay.IRModule.from_expr(relay.Function([key], unused))
    for each in (relay.transform.DeadCodeElimination(), relay.transform.EliminateCommonSubexpr()):
        module = each(module)
    assert module.astext().count("random.") == 1


def test_every_record_is_pure():
    records = [record for name, record in OPERATORS.items() if name.startswith("random.")]
    assert [type(record) for record in records] == [OperatorRecord] * 4
    assert {record.effect for record in records} == {relay.operators.Effect.PURE}


def test_what_seeds_are_refused():
    with pytest.raises(relay.RelayError) as caught:
        random.threefry_key(-1)
    check_message("ops", "random_seed", f"{caught.value}".partition("\n")[0])
    with pytest.raises(relay.RelayError) as caught:
        random.uniform(relay.var("key", shape=(4,), dtype="uint64"), (2,))
    check_message("ops", "random_key", f"{caught.value}".split("\n  at")[0])
