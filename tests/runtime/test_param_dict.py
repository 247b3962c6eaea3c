"""Parameters as bytes, in the format of Relay's runtimes."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import relay
from relay.base.dtypes import DType

PARAMS = {"weight": np.arange(6, dtype=np.float32).reshape(2, 3), "é": np.array(7, np.int64)}
BYTES = b"".join([
    struct.pack("<QQ", 0xF7E58D4F05049CB7, 0),
    struct.pack("<Q", 2), struct.pack("<Q", 6), b"weight", struct.pack("<Q", 2), "é".encode(),
    struct.pack("<Q", 2),
    struct.pack("<QQ", 0xDD5E40F096B4A13F, 0), struct.pack("<iiiBBH", 1, 0, 2, 2, 32, 1), struct.pack("<qq", 2, 3),
    struct.pack("<q", 24), struct.pack("<6f", *range(6)),
    struct.pack("<QQ", 0xDD5E40F096B4A13F, 0), struct.pack("<iiiBBH", 1, 0, 0, 0, 64, 1), struct.pack("<q", 8),
    struct.pack("<q", 7),
])  # fmt: skip


def test_the_bytes():
    assert relay.save_param_dict(PARAMS) == BYTES
    read = relay.load_param_dict(BYTES)
    assert list(read) == list(PARAMS)
    for name, array in PARAMS.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == array.dtype


@pytest.mark.parametrize("dtype", DType)
@pytest.mark.parametrize("shape", [(), (0,), (3, 2), (2, 0, 4)])
def test_every_element_type_comes_back(dtype, shape):
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype.numpy)
    read = relay.load_param_dict(relay.save_param_dict({"a": array}))["a"]
    assert (read.dtype, read.shape) == (array.dtype, array.shape)
    assert read.tobytes() == array.tobytes()
    assert read.flags.writeable


def test_arrays_in_another_order_of_memory():
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    np.testing.assert_array_equal(relay.load_param_dict(relay.save_param_dict({"a": array}))["a"], array)


def test_what_has_no_element_type():
    with pytest.raises(relay.RelayError, match="unknown-dtype"):
        relay.save_param_dict({"a": np.array(1j)})


@pytest.mark.parametrize("size", range(len(BYTES)))
def test_bytes_that_are_cut_short(size):
    with pytest.raises(relay.RelayError, match="bad-params"):
        relay.load_param_dict(BYTES[:size])


def test_bytes_that_follow():
    with pytest.raises(relay.RelayError, match="1 bytes follow the last array"):
        relay.load_param_dict(BYTES + b"x")


@given(st.integers(0, len(BYTES) - 1), st.integers(0, 255))
def test_any_byte_may_be_wrong(position, value):
    damaged = BYTES[:position] + bytes([value]) + BYTES[position + 1 :]
    try:
        read = relay.load_param_dict(damaged)
    except relay.RelayError as error:
        assert error.rule == "bad-params"  # noqa: PT017
    else:
        assert len(read) == 2
