"""What is compiled for AArch64 computes what the interpreter does, on an emulated machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from unicorn import UcError

import relay
from relay import nn, op
from relay.base.target import Target
from relay.driver.build import compile_stages
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.host import resolve
from tests.targets.cpu import emulated
from tests.targets.cpu.emulated import run_exported, run_kernel
from tests.targets.cpu.emulator import LibraryImage
from tests.targets.cpu.groups import SPECIAL

SERIAL = "llvm -mtriple=aarch64-unknown-linux-gnu -num-threads=1"
Make = Callable[..., relay.Expr]


def values(*shape: int, special: float = 0.0) -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    result = random.standard_normal(shape, dtype=np.float32)
    chosen = random.random(shape) < special
    result[chosen] = random.choice(SPECIAL, int(chosen.sum()))
    return result


def weight(*shape: int) -> relay.Expr:
    return relay.const(values(*shape))


def bytes_of(x: relay.Expr) -> relay.Expr:
    return relay.cast(x * relay.const(40.0), "uint8")


def byte_weight(*shape: int) -> relay.Expr:
    return relay.const(np.random.default_rng(0).integers(-128, 128, shape).astype(np.int8))


def layer_norm(x: relay.Expr) -> relay.Expr:
    return nn.layer_norm(x, weight(33), weight(33))


def convolution(x: relay.Expr, *kernel: int, groups: int = 1, strides: tuple[int, int] = (1, 1)) -> relay.Expr:
    sums = nn.conv2d(
        x, weight(*kernel), strides=strides, padding=(1, 1), channels=kernel[0], kernel_size=kernel[2:], groups=groups
    )
    return nn.relu(nn.bias_add(sums, weight(kernel[0])))


def byte_convolution(x: relay.Expr, *kernel: int) -> relay.Expr:
    sums = nn.conv2d(
        bytes_of(x), byte_weight(*kernel), padding=(1, 1), channels=kernel[0], kernel_size=kernel[2:], out_dtype="int32"
    )
    return relay.cast(sums, "float32")


def attention(query: relay.Expr, key: relay.Expr, value: relay.Expr) -> relay.Expr:
    scores = nn.batch_matmul(query, key, transpose_b=True) * relay.const(0.3)
    return nn.batch_matmul(nn.softmax(scores, axis=-1), value, transpose_b=False)


CASES: dict[str, tuple[Make, tuple[np.ndarray, ...]]] = {
    "formulas": (lambda x: op.exp(x) + op.tanh(x) * op.erf(x), (values(3, 7, 17, special=0.05),)),
    "formula of rows": (lambda x, y: nn.relu(x) + y, (values(5, 31), values(31))),
    "logarithms": (lambda x: op.log(op.abs(x)) - op.sin(x) * op.sigmoid(x), (values(257, special=0.05),)),
    "half precision": (lambda x: relay.cast(relay.cast(x, "float16") * relay.const(0.5, "float16"), "float32"),
                       (values(67, special=0.05),)),
    "sum": (lambda x: op.sum(x, axis=[1]), (values(7, 33, 5),)),
    "sum of all": (lambda x: op.sum(x), (values(13, 31),)),
    "maximum": (lambda x: op.max(x, axis=[-1]), (values(7, 129, special=0.01),)),
    "softmax": (lambda x: nn.softmax(x), (values(5, 131),)),
    "softmax of columns": (lambda x: nn.softmax(x, axis=1), (values(2, 17, 15),)),
    "layer norm": (layer_norm, (values(7, 33),)),
    "dense": (lambda x: nn.relu(nn.dense(x, weight(47, 65))), (values(13, 65),)),
    "dense of a row": (lambda x: nn.dense(x, weight(130, 97)), (values(1, 97),)),
    "dense of few columns": (lambda x: nn.dense(x, weight(3, 33)), (values(17, 33),)),
    "matmul": (lambda a, b: nn.relu(nn.matmul(a, b)), (values(33, 31), values(31, 47))),
    "batch matmul": (lambda a, b: nn.batch_matmul(a, b), (values(2, 15, 33), values(2, 17, 33))),
    "convolution 3×3": (lambda x: convolution(x, 17, 5, 3, 3), (values(1, 5, 15, 13),)),
    "convolution with strides": (lambda x: convolution(x, 32, 16, 3, 3, strides=(2, 2)), (values(2, 16, 9, 11),)),
    "convolution of groups": (lambda x: convolution(x, 12, 2, 3, 3, groups=3), (values(1, 6, 7, 9),)),
    "depthwise": (lambda x: convolution(x, 19, 1, 3, 3, groups=19), (values(1, 19, 14, 17),)),
    "transposed": (lambda x: nn.conv2d_transpose(x, weight(7, 9, 4, 4), strides=(2, 2), padding=(1, 1), channels=9,
                                                 kernel_size=(4, 4)), (values(1, 7, 5, 6),)),
    "maximum of windows": (lambda x: nn.max_pool2d(x, (3, 3), (2, 2), padding=(1, 1, 1, 1)), (values(1, 5, 15, 17),)),
    "mean of windows": (lambda x: nn.avg_pool2d(x, (2, 2), (2, 2)), (values(1, 3, 8, 31),)),
    "mean of maps": (nn.global_avg_pool2d, (values(1, 17, 7, 7),)),
    "attention": (attention, (values(2, 13, 24), values(2, 31, 24), values(2, 31, 15))),
    "transpose": (relay.transpose, (values(33, 70),)),
    "join": (lambda x, y: relay.concatenate((x, y, x), 1), (values(3, 5, 7), values(3, 17, 7))),
    "bytes dense": (lambda x: relay.cast(nn.dense(bytes_of(x), byte_weight(33, 70), out_dtype="int32"), "float32"),
                    (values(9, 70),)),
    "bytes convolution": (lambda x: byte_convolution(x, 17, 5, 3, 3), (values(1, 5, 9, 7),)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_group(name: str) -> None:
    make, arrays = CASES[name]
    inputs = [relay.var(f"p{i}", shape=array.shape, dtype="float32") for i, array in enumerate(arrays)]
    function = relay.Function(inputs, make(*inputs))
    with np.errstate(all="ignore"):
        expected = relay.create_executor("interpreter", mod=function).evaluate()(*arrays)
    found = emulated.build(function)(*arrays)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_an_extent_that_is_not_known() -> None:
    module, parameters = relay.testing.mlp.get_workload(batch_size="n", image_shape=(1, 5, 7))
    bound = relay.build(module, params=parameters)
    compiled = emulated.build(relay.driver.parameters.bind_params(module, parameters))
    for count in (1, 3, 17):
        image = values(count, 1, 5, 7)
        np.testing.assert_allclose(compiled(image), bound(image), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("network", "shape"), [("mlp", (1, 28, 28)), ("dqn", (4, 36, 36))])
def test_exported_network(network: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    """Whole, as a program in C calls it."""
    module, parameters = getattr(relay.testing, network).get_workload(image_shape=shape)
    image = values(1, *shape)
    expected = relay.build(module, params=parameters)(image)
    relay.build(module, SERIAL, params=parameters).export(tmp_path / "network.so")
    found = np.empty_like(expected)
    run_exported((tmp_path / "network.so").read_bytes(), image, results=[found])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("columns", [7, 14, 28, 56])
def test_sums_of_tiles_stay_in_registers(columns: int) -> None:
    """A tile of more rows than fit would be written to the stack and read again at every step."""
    x = relay.var("x", shape=(1, columns, columns, 64))
    sums = nn.conv2d(
        x, weight(3, 3, 64, 64), padding=(1, 1), channels=64, kernel_size=(3, 3), data_layout="NHWC",
        kernel_layout="HWIO",
    )  # fmt: skip
    compilation = compile_stages(relay.Function([x], sums), SERIAL)
    (kernel,) = compilation.called_kernels
    assembly = kernel.assembly()
    assert "fmla" in assembly
    assert not re.search(r"(st|ld)[rp]\tq\d+.*\[sp", assembly)


def test_with_one_thread_an_export_asks_the_system_for_memory_only(tmp_path: Path) -> None:
    x = relay.var("x", shape=(1000,))
    relay.build(relay.Function([x], op.exp(x)), SERIAL).export(tmp_path / "exp.so")
    symbols = LibraryImage.of((tmp_path / "exp.so").read_bytes()).symbols
    asked = {name for name, (is_defined, _) in symbols.items() if not is_defined}
    assert asked <= {"posix_memalign", "free", "memcpy", "memset"}
    assert "exp_run" in symbols


@pytest.mark.parametrize(("reach", "complaint"), [(4, ""), (5, "READ_UNMAPPED"), (-1, "READ_UNMAPPED")])
def test_what_is_read_beyond_an_end_stops_the_machine(reach: int, complaint: str) -> None:
    """The harness itself: a kernel that reads one float too far, or from before the page, does not get away with it."""
    target = resolve(Target.parse(SERIAL))
    at = reach - 1 if reach > 0 else -1024
    text = (
        "define void @f(ptr %x, ptr %y) {\n"
        f"  %p = getelementptr float, ptr %x, i64 {at}\n"
        "  %v = load float, ptr %p\n  store float %v, ptr %y\n  ret void\n}\n"
    )
    x, y = values(4), np.zeros(1, np.float32)
    image = emit_object(text, target)
    if complaint:
        with pytest.raises(UcError, match=complaint):
            run_kernel([image], "f", [x, y], ())
    else:
        run_kernel([image], "f", [x, y], ())
        assert y[0] == x[3]


def test_a_function_that_the_machine_lacks_is_named() -> None:
    text = "declare void @absent()\ndefine void @f() {\n  call void @absent()\n  ret void\n}\n"
    with pytest.raises(NotImplementedError, match="has no function `absent`"):
        run_kernel([emit_object(text, resolve(Target.parse(SERIAL)))], "f", [], ())
