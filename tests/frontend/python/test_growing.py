"""Variables of loops whose types follow from the turns: numbers that become floats, arrays that get other extents,
lists that keep their length, what a turn may leave missing."""

from __future__ import annotations

import numpy as np
import pytest

import relay

from .running import agrees

Vector = relay.Tensor[("n",)]
Any = relay.Tensor[("?",)]
Rows = relay.Tensor[("n", 3)]
X = np.array([1, 2, 3.5], np.float32)
ROWS = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
WEIGHTS = [np.ones((3, 4), np.float32), np.full((4, 2), 0.1, np.float32)]
BACK = [np.full((4, 4), 0.1, np.float32), np.eye(2, dtype=np.float32)]


def total_of_floats(x: Vector):
    total, scale = 0, 1
    for value in x:
        total, scale = total + value, scale * 0.5
    return total, scale


def totals_of_rows(x: Rows):
    total = 0
    for row in x:
        inside = 0
        for value in row:
            inside += value * 0.5
        total += inside
    return total


def doubles(x: Vector):
    for _ in range(3):
        x = np.concatenate([x, x])
    return x


def without_the_largest(x: Vector):
    count = 0
    while x.size > 0:
        x = x[x < x.max()]
        count += 1
    return count, x


def in_a_tuple(x: Vector):
    state = (x, 0)
    for i in range(3):
        state = (state[0][state[0] > i], state[1] + state[0].sum())
    return state


def centers_by_label(x: Rows):
    centers = x[:2]
    for _ in range(3):
        rows = []
        for j in range(2):
            near = x[x[:, 0] > j]
            if len(near) > 0:
                rows.append(near.mean(axis=0))
            else:
                rows.append(centers[j])
        centers = np.array(rows)
    return centers, ((x[:, None, :] - centers[None]) ** 2).sum(axis=-1)


def until_it_is_long(x: Vector) -> tuple[Any, int]:
    y = x
    for i in range(9):
        y = np.concatenate([y, x])
        if y.sum() > 20:
            return y, i
    return y, -1


@pytest.mark.parametrize("definition", [total_of_floats, doubles, without_the_largest, in_a_tuple, until_it_is_long])
def test_turns_tell_the_types_of_variables(definition):
    agrees(definition, X)


@pytest.mark.parametrize("definition", [totals_of_rows, centers_by_label])
def test_turns_tell_the_types_of_variables_for_rows(definition):
    agrees(definition, ROWS)


def test_a_turn_may_leave_a_variable_missing():
    def last_beyond(xs: list[int], k: int):
        best = 0
        for x in xs:
            if x > k:
                best = x
            elif x == k:
                best = None
        return best

    agrees(last_beyond, [1, 5, 2], np.int32(2))
    agrees(last_beyond, [2, 5, 1], np.int32(2))


def steps_of_parameters(x: Rows, w: relay.Tensor[(3,)], b: relay.Tensor[(1,)]):
    parameters = [w, b]
    for _ in range(3):
        error = x @ parameters[0] + parameters[1] - x[:, 0]
        slopes = [x.T @ error, np.array([error.sum()])]
        parameters = [p - 0.01 * slope for p, slope in zip(parameters, slopes)]  # noqa: B905
    return parameters


def states_of_layers(x: Rows):
    states = [np.zeros(4, np.float32), np.zeros(2, np.float32)]
    for row in x:
        signal = row
        following = []
        for weight, back, state in zip(WEIGHTS, BACK, states):  # noqa: B905
            signal = np.tanh(signal @ weight + state @ back)
            following.append(signal)
        states = following
    return states[-1], states


def two_of_a_kind(x: Rows):
    pair = [x[0], x[1] * 2]
    for i in range(len(x)):
        pair = [pair[1], pair[i % 2] + 1]
    return pair


def a_list_that_grows(x: Rows):
    rows = [x[0], x[1]]
    for i in range(len(x)):
        rows = [*rows, x[i]]
    return rows, len(rows)


def left_early(x: Rows):
    states = [np.zeros(3, np.float32), np.ones((1, 3), np.float32)]
    for row in x:
        if row[0] > 0.5:
            continue
        if row[0] < -1:
            break
        states = [states[0] + row, states[1] * 2] if row[1] > 0 else [states[0], states[1] + 1]
    else:
        states = [states[0] * 2, states[1]]
    return states


@pytest.mark.parametrize("definition", [states_of_layers, two_of_a_kind, a_list_that_grows, left_early])
def test_lists_keep_their_length_through_loops(definition):
    agrees(definition, ROWS)
    agrees(definition, -ROWS)


def test_parameters_of_several_shapes_are_a_list():
    agrees(steps_of_parameters, ROWS, ROWS[0].copy(), ROWS[1, :1].copy())


def sums_of_rows(x: Rows):
    total, product, difference = 0, 1.0, 0
    for row in x:
        total += row
        product = product * row
        difference -= row.sum()
    return total, product, difference


def sum_over_columns(x: Rows):
    total = 0
    for j in range(3):
        total = total + x[:, j] * j
    return total


@pytest.mark.parametrize("definition", [sums_of_rows, sum_over_columns])
def test_a_number_that_arrays_are_added_to_is_an_array(definition):
    agrees(definition, ROWS)


def test_a_number_that_is_read_otherwise_stays_one():
    def read_before(x: Rows):
        product, seen = 1, 0.0
        for row in x:
            seen += np.sum(product)
            product = product * row
        return seen, product

    with pytest.raises(relay.RelayError) as caught:
        relay.function(read_before)(ROWS)
    assert caught.value.rule == "loop-variable-changes-type"
    assert "begin with" in caught.value.remedy


def in_buckets(xs: list[int], n: int):
    buckets = [[] for _ in range(n)]
    for x in xs:
        buckets[x % n].append(x)
    return buckets, sum(len(bucket) for bucket in buckets)


def in_three_buckets(xs: list[int]):
    buckets = [[], [], []]
    for x in xs:
        buckets[x % 3].append(x)
    return buckets


def both_ways(edges: list[tuple[int, int]], n: int):
    near = [[] for _ in range(n)]
    told: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        near[u].append((v, 1.5))
        near[v].append((u, 0.5))
        told[u].append(v)
    total = 0
    for row in near:
        for v, weight in row:
            total += weight * v
    return near, told, total


def way_back(edges: list[tuple[int, int]], n: int):
    before = [None] * n
    for u, v in edges:
        before[v] = u
    way = []
    at = n - 1
    while at is not None:
        way.append(at)
        at = before[at]
    return before, way


def what_may_be_missing(n: int):
    slots, three = [None for _ in range(n)], [None] * 3
    slots[1] = 2.5
    three[n % 3] = 1
    return slots, three, len([None] * n)


def runs_of(xs: list[int]):
    runs = []
    for x in xs:
        match runs:
            case [(value, length), *others] if value == x:
                runs = [(value, length + 1), *others]
            case _:
                runs = [(x, 1), *runs]
    return runs


def test_what_is_put_into_empty_lists_tells_what_they_are():
    agrees(in_buckets, [4, 1, 2, 7], np.int32(3))
    agrees(in_three_buckets, [4, 1, 2, 7])
    agrees(both_ways, [(0, 1), (1, 2)], np.int32(3))
    agrees(way_back, [(0, 1), (1, 2)], np.int32(3))
    agrees(what_may_be_missing, np.int32(4))
    agrees(runs_of, [1, 1, 2, 1])


def test_empty_lists_into_which_nothing_is_put_are_refused():
    def counted(n: int):
        buckets = [[] for _ in range(n)]
        return buckets if n > 2 else None

    with pytest.raises(relay.RelayError) as caught:
        relay.function(counted)(3)
    assert caught.value.rule == "empty-list"
    assert "annotate" in caught.value.remedy


def next_of(queue):
    first, queue = queue[0], queue[1:]
    if not queue:
        return first, queue
    return first, queue[::-1]


def until_nothing_is_left(n: int):
    queue = [(0, n)]
    seen = 0
    while queue:
        (depth, width), queue = next_of(queue)
        seen += width
        if depth < 3:
            queue = [*queue, (depth + 1, width - 1), (depth + 2, width)]
    return seen


def test_a_list_of_known_length_that_may_become_empty():
    agrees(until_nothing_is_left, np.int32(4))


def an_int_or_a_float(x: float, n: int):
    total = 0
    if n > 2:
        total += x
    low = x if n > 1 else 0
    if n == 0:
        return 0, total, low
    return x * 2, total, low


def test_a_number_that_is_a_float_on_one_way_is_one():
    for n in (0, 1, 2, 3):
        found = relay.function(an_int_or_a_float)(1.5, n)
        assert tuple(map(float, found)) == an_int_or_a_float(1.5, n)


MONTHS = (31, 28, 31, 30)


def counted_from_one(n: int, xs: list[int]):
    days = 0
    for month, length in enumerate(MONTHS, 1):
        days += month * length if month != n else MONTHS[n - 1]
    later = [0] + [None] * n
    later[n] = days
    return later, max(xs, default=None), min(xs, key=lambda x: -x, default=None)


def first_fit(xs: list[int]):
    bins = []
    for x in xs:
        for place, (load, items) in enumerate(bins):
            if load + x <= 5:
                bins[place] = (load + x, [*items, x])
                break
        else:
            bins.append((x, [x]))
    return bins


def test_tables_that_are_known_and_lists_with_gaps():
    agrees(counted_from_one, np.int32(2), [3, 1, 2])
    agrees(counted_from_one, np.int32(2), [])
    agrees(first_fit, [3, 4, 2, 1])


def test_a_nested_loop_collects_what_only_the_run_knows_the_extents_of():
    def windows(x: relay.Tensor[(relay.symbol("b"), 3, 8)], k: int):
        found = []
        for i in range(3):
            for j in range(2):
                found.append(x[:, j, i : i + k])
        return np.stack(found)

    agrees(windows, np.random.default_rng(0).standard_normal((2, 3, 8)).astype(np.float32), np.int32(4))
