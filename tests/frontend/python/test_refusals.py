"""What cannot become a program is refused at its Python line, with what to write instead."""

import re

import numpy as np
import pytest

import relay
from tests.messages import check_message

Vector = relay.Tensor[(3,)]


def try_and_assert(x: Vector):
    try:
        y = x
    except ValueError:
        y = x
    assert y
    return y


def changes_type(x: Vector, n: int):
    total = 0
    for _ in range(n):
        total = np.maximum(total, x)
    return total


def may_be_unset(x: Vector, n: int):
    if n > 0:
        y = x
    return y


def stores_into_what_the_caller_has(x: Vector):
    x[0] = 1.0
    return x


def stores_into_what_two_names_hold(x: Vector):
    y = x + 1
    z = y
    y[0] = 1.0
    return z


def changes_what_is_gone_over(x: Vector):
    y = x + 1
    total = 0.0
    for a in y:
        y[0] = 5.0
        total += a
    return total


def tensor_as_condition(x: Vector):
    if x:
        return x
    return x


def unknown_function(x: Vector):
    return np.linalg.svd(x)


def without_annotation(x):
    return x


def empty_list(x: Vector):
    return []


def named_inside_a_pattern(x: Vector, n: int):
    xs = [x]
    match xs:
        case [y, ([_] as w)] if n > 0:
            return y if n > 1 else w
        case _:
            return x


def wrong_shapes(x: Vector):
    return x + np.zeros(4)


def unknown_attribute(x: Vector):
    return x.tobytes()


def unknown_name(x: Vector):
    return x + undefined  # noqa: F821


def strict_zip(x: Vector, y: relay.Tensor[(4,)]):
    total = 0.0
    for left, right in zip(x, y, strict=True):
        total = total + left * right
    return total


def changes_another_name(x: Vector):
    y = x
    y += 1
    return x, y


def appends_to_another_name(x: Vector):
    xs = [x]
    ys = xs
    ys.append(x)
    return len(xs)


def changes_what_a_turn_handed_on(x: Vector, n: int):
    h, found = x * 2, [x]
    for _ in range(n):
        h += 1
        found.append(h)
    return found


def changes_a_list_around_it(x: Vector):
    xs = [x]

    def add(y):
        xs.append(y)
        return y

    return add(x)


def changes_its_type(k: relay.Tensor[(3,), "int32"]):  # noqa: F821
    k = k + 1
    k += 0.5
    return k


def index_outside(x: Vector):
    return x[3]


def largest_of_two_kinds(n: int):
    return max(n, 0.5)


def inverts_a_bool(n: int):
    return ~(n > 0)


def rounds_to_computed_digits(y: float, n: int):
    return round(y, n)


def solves(x: relay.Tensor[(2, 2)]):
    return np.linalg.inv(x)


class Undecorated:
    def double(self, x: Vector):
        return x + x


UNDECORATED = Undecorated()


def calls_a_method(x: Vector):
    return UNDECORATED.double(x)


def argument_of_numpy(x: Vector):
    return np.sum(x, where=x > 0)


def loop_that_may_not_run(n: int):
    for i in range(n):
        n += i
    return i


def own_name_that_is_not_set(n: int):
    def inner():
        n += 1  # noqa: F823
        return n

    return inner()


def too_large(n: int):
    return n + 3_000_000_000


def known_division_by_zero(n: int):
    return n + 7 // 0


def wrong_arguments(x: Vector):
    def inner(a, b=1, *, c=2):
        return a + b + c

    return inner(x, 1, 2)


def several_ways(*values: Vector):
    return values[0]


def recursive_without_result(n: int):
    return recursive_without_result_defined(n)


recursive_without_result_defined = relay.function(recursive_without_result)


def calls_a_list(x: Vector):
    xs = [1]
    return xs(x)


REFUSED = [
    try_and_assert, changes_type, may_be_unset, stores_into_what_the_caller_has,
    stores_into_what_two_names_hold, tensor_as_condition,
    changes_what_is_gone_over,
    unknown_function, without_annotation, empty_list,
    named_inside_a_pattern, wrong_shapes, unknown_attribute,
    unknown_name, strict_zip, changes_another_name, appends_to_another_name, changes_what_a_turn_handed_on,
    changes_a_list_around_it, changes_its_type, index_outside,
    largest_of_two_kinds, inverts_a_bool, rounds_to_computed_digits, solves, calls_a_method, argument_of_numpy,
    loop_that_may_not_run,
    own_name_that_is_not_set, too_large, known_division_by_zero, wrong_arguments, several_ways,
    calls_a_list,
]  # fmt: skip


def told(error: relay.RelayError) -> str:
    """The message, without the folder of the file and the line numbers in it."""
    return re.sub(
        r"(/\S*/)?test_refusals\.py:\d+", "test_refusals.py:LINE", re.sub(r"line \d+", "line LINE", str(error))
    )


@pytest.mark.parametrize("definition", REFUSED, ids=lambda each: each.__name__)
def test_what_is_refused(definition):
    with pytest.raises(relay.RelayError) as caught:
        _ = relay.function(definition).module
    assert caught.value.span is not None
    assert caught.value.span.source.name == __file__
    check_message("python", definition.__name__.replace("_", "-"), told(caught.value))


def test_recursion_needs_a_result():
    with pytest.raises(relay.RelayError) as caught:
        _ = recursive_without_result_defined.module
    check_message("python", "recursive-without-result", told(caught.value))


def test_a_function_typed_at_the_prompt_has_no_source():
    names: dict[str, object] = {"relay": relay}
    exec("def f(x: int):\n    return x\n", names)
    typed = relay.function(names["f"])
    for use in (lambda: typed.module, lambda: typed(1)):
        with pytest.raises(relay.RelayError) as caught:
            use()
        check_message("python", "no-source", caught.value)


@relay.function
def outside_the_subset(x: Vector):
    y = x
    y += 1
    return y


@relay.function
def calls_it_in_a_loop(x: Vector):
    found = []
    for _ in range(2):
        x = outside_the_subset(x)
        found.append(x)
    return found


def test_a_function_that_a_loop_calls_first_is_refused_too():
    with pytest.raises(relay.RelayError, match="a change in place"):
        _ = calls_it_in_a_loop.module
