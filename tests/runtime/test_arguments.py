"""What an executable takes: memory of others, never copied, and a clear word when it cannot be used."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import relay
from relay.base.dtypes import DType
from relay.runtime.arguments.arguments import as_array
from relay.runtime.artefact.manifest import TensorSpec
from tests.driver.programs import WEIGHT, identity, layer, rows
from tests.messages import check_message


@pytest.fixture(scope="module")
def executable() -> relay.Executable:
    return relay.build(layer())


def misaligned(shape: tuple[int, ...]) -> np.ndarray:
    """Every element holds a NaN, one byte off the alignment of its type."""
    memory = np.full(4 * int(np.prod(shape)) + 1, 0xFF, np.uint8)
    return memory[1:].view(np.float32).reshape(shape)


WRONG = {
    "dtype": lambda: (rows(2).astype(np.float64), WEIGHT),
    "byte-order": lambda: (rows(2).astype(">f4"), WEIGHT),
    "rank": lambda: (rows(2)[0], WEIGHT),
    "shape": lambda: (rows(2, 5), WEIGHT),
    "not-contiguous": lambda: (rows(4)[::2], WEIGHT),
    "transposed": lambda: (rows(4, 2).T, WEIGHT),
    "misaligned": lambda: (misaligned((2, 4)), WEIGHT),
    "list": lambda: ([[1.0, 2.0, 3.0, 4.0]], WEIGHT),
    "number": lambda: (3.0, WEIGHT),
    "text": lambda: ("x.npy", WEIGHT),
    "none": lambda: (None, WEIGHT),
    "objects": lambda: (np.array([[{}] * 4], dtype=object), WEIGHT),
    "too-many": lambda: (rows(2), WEIGHT, WEIGHT),
    "missing": lambda: (rows(2),),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_an_input_is_explained(executable, name):
    with pytest.raises(relay.RelayError) as caught:
        executable(*WRONG[name]())
    check_message("runtime", f"input-{name}", caught.value)


@pytest.mark.parametrize(("name", "given"), [("unknown", {"y": WEIGHT}), ("twice", {"x": rows(2), "w": WEIGHT})])
def test_names_that_do_not_fit(executable, name, given):
    with pytest.raises(relay.RelayError) as caught:
        executable(rows(2), **given)
    check_message("runtime", f"name-{name}", caught.value)


def test_nothing_is_left_behind_by_a_refusal(executable):
    with pytest.raises(relay.RelayError):
        executable(rows(2, 5), WEIGHT)
    assert executable(rows(2), WEIGHT).shape == (2, 3)


def test_read_only_arrays_are_fine(executable):
    x = rows(2)
    expected = executable(x, WEIGHT)
    x.setflags(write=False)
    np.testing.assert_array_equal(executable(x, WEIGHT), expected)


def test_arrays_at_odd_places_are_fine(executable):
    """Aligned to their elements, and to nothing more."""
    x = rows(3)
    memory = np.empty(x.size + 1, np.float32)
    memory[1:] = x.reshape(-1)
    np.testing.assert_array_equal(executable(memory[1:].reshape(x.shape), WEIGHT), executable(x, WEIGHT))


SPEC = TensorSpec("x", (2, 3), DType.FLOAT32)


def test_arrays_go_in_without_a_copy():
    array = np.ones((2, 3), np.float32)
    assert as_array(array, SPEC) is array


def test_tensors_go_in_and_come_out_without_a_copy():
    torch = pytest.importorskip("torch")
    tensor = torch.ones(2, 3)
    assert as_array(tensor, SPEC).ctypes.data == tensor.data_ptr()
    result = identity("float32")(tensor)
    shared = torch.from_dlpack(result)
    assert shared.data_ptr() == result.ctypes.data
    assert torch.equal(shared, tensor)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"])
def test_tensors_of_every_type_that_numpy_shares(dtype):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(torch, dtype))
    assert torch.equal(torch.from_dlpack(identity(dtype)(tensor)), tensor)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_floats_of_torch_go_in_as_they_are(dtype):
    """NumPy cannot read them by DLPack; we can."""
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([[1, 2, 0.5], [-1, 0, 3]]).to(getattr(torch, dtype))
    array = as_array(tensor, TensorSpec("x", (2, 3), DType(dtype)))
    assert array.ctypes.data == tensor.data_ptr()
    assert array.astype(np.float32).tolist() == tensor.float().tolist()
    result = identity(dtype)(tensor)
    assert result.astype(np.float32).tolist() == tensor.float().tolist()


def test_an_array_keeps_the_memory_of_its_tensor_alive():
    torch = pytest.importorskip("torch")
    tensor = torch.full((1000,), 3.0, dtype=torch.bfloat16)
    array = as_array(tensor, TensorSpec("x", (1000,), DType.BFLOAT16))
    del tensor
    torch.zeros(1000, dtype=torch.bfloat16)
    assert array.astype(np.float32).tolist() == [3.0] * 1000


@pytest.mark.parametrize("name", ["needs-gradient", "meta-device", "not-contiguous-bfloat16"])
def test_tensors_that_cannot_be_shared(name):
    torch = pytest.importorskip("torch")
    tensors = {
        "needs-gradient": lambda: torch.ones(2, 3, requires_grad=True),
        "meta-device": lambda: torch.ones(2, 3, device="meta"),
        "not-contiguous-bfloat16": lambda: torch.ones(3, 2, dtype=torch.bfloat16).T,
    }
    dtype = DType.BFLOAT16 if "bfloat16" in name else DType.FLOAT32
    with pytest.raises(relay.RelayError, match="input-memory"):
        as_array(tensors[name](), TensorSpec("x", (2, 3), dtype))


@pytest.mark.parametrize("dtype", list(DType))
def test_every_element_type_passes(dtype):
    x = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype.numpy)
    result = identity(str(dtype))(x)
    assert result.dtype == dtype.numpy
    np.testing.assert_array_equal(result.astype(np.float32), x.astype(np.float32))
    assert not np.shares_memory(result, x)


def test_bfloat16_is_that_of_ml_dtypes():
    with pytest.raises(relay.RelayError) as caught:
        identity("bfloat16")(np.zeros((2, 3), np.uint16))
    check_message("runtime", "bfloat16-as-bits", caught.value)
    assert identity("bfloat16")(np.zeros((2, 3), ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16


def test_a_bool_is_not_a_byte():
    with pytest.raises(relay.RelayError) as caught:
        identity("bool")(np.zeros((2, 3), np.uint8))
    check_message("runtime", "byte-for-bool", caught.value)


def test_nan_goes_through():
    x = np.array([[np.nan, np.inf, -0.0], [-np.inf, 1e-45, 1]], np.float32)
    np.testing.assert_array_equal(identity("float32")(x).view(np.uint32), x.view(np.uint32))
