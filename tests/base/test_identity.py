"""Maps by identity."""

import gc
import weakref

import numpy as np
import pytest

from relay.base.identity import IdentityMap


def test_equal_values_are_different_keys_and_need_no_hash():
    first, second = np.zeros(2), np.zeros(2)
    seen = IdentityMap()
    seen[first] = "first"
    seen[second] = "second"
    seen[first] = "again"
    assert [seen[first], seen[second], len(seen)] == ["again", "second", 2]
    assert [each is wanted for each, wanted in zip(seen, (first, second), strict=True)] == [True, True]
    assert seen.pop(second) == "second"
    assert second not in seen
    with pytest.raises(KeyError):
        del seen[second]


def test_a_key_lives_as_long_as_its_entry():
    class Value:
        pass

    key = Value()
    alive = weakref.ref(key)
    seen = IdentityMap()
    seen[key] = 1
    del key
    gc.collect()
    assert alive() is not None
    seen.clear()
    gc.collect()
    assert alive() is None
