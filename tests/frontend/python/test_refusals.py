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
        total = total + x
    return total


def changes_extent(x: Vector, n: int):
    for _ in range(n):
        x = np.concatenate([x, x])
    return x


def may_be_unset(x: Vector, n: int):
    if n > 0:
        y = x
    return y


def stores_into_a_tensor(x: Vector):
    x[0] = 1.0
    return x


def tensor_as_condition(x: Vector):
    if x:
        return x
    return x


def unknown_function(x: Vector):
    return np.linalg.norm(x)


def without_annotation(x):
    return x


def empty_list(x: Vector):
    return []


def guard(x: Vector, n: int):
    xs = [x]
    match xs:
        case [y] if n > 0:
            return y
        case _:
            return x


def wrong_shapes(x: Vector):
    return x + np.zeros(4)


def computed_slice(x: Vector, n: int):
    return x[:n]


def unknown_attribute(x: Vector):
    return x.item()


def unknown_name(x: Vector):
    return x + undefined  # noqa: F821


def zip_of_tensors(x: Vector, y: Vector):
    total = x
    for left, right in zip(x, y, strict=True):
        total = total + left * right
    return total


def recursive_without_result(n: int):
    return recursive_without_result_defined(n)


recursive_without_result_defined = relay.function(recursive_without_result)

REFUSED = [
    try_and_assert, changes_type, changes_extent, may_be_unset, stores_into_a_tensor, tensor_as_condition,
    unknown_function, without_annotation, empty_list, guard, wrong_shapes, computed_slice, unknown_attribute,
    unknown_name, zip_of_tensors,
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
    with pytest.raises(relay.RelayError) as caught:
        _ = relay.function(names["f"]).module
    check_message("python", "no-source", caught.value)
