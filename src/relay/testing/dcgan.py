"""The generator of DCGAN (Radford et al. 2015, 1511.06434, figure 1)."""

from __future__ import annotations

from collections.abc import Sequence

from relay import nn, op
from relay.base.diagnostics import RelayError
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule
from relay.ops.framework.build import var
from relay.testing.layers import batch_norm_infer, conv2d_transpose, tensor_type_of
from relay.testing.workload import Parameters, create_workload, network


def deconv_bn_relu(data: Expr, name: str, channels: int) -> Expr:
    """Twice the height and width."""
    x = conv2d_transpose(data, f"{name}_deconv", channels, (4, 4), (2, 2), (1, 1))
    return nn.relu(batch_norm_infer(x, f"{name}_batch_norm", epsilon=1e-5))


def get_net(
    batch_size: int | str, random_len: int = 100, oshape: Sequence[int] = (3, 64, 64), ngf: int = 128,
    dtype: str = "float32",
) -> Function:  # fmt: skip
    """data[batch, random_len] → images[batch, *oshape] between -1 and 1; `ngf` is the width of the last layers."""
    channels, height, width = oshape
    if height % 16 or width % 16:
        raise RelayError(
            rule="bad-image-shape", message="the generator doubles its image four times",
            expected="a height and width that 16 divides", found=str(tuple(oshape)),
        )  # fmt: skip
    data = var("data", shape=(batch_size, random_len), dtype=dtype)
    first = (ngf * 8, height // 16, width // 16)
    weight = var("dense_weight", shape=(first[0] * first[1] * first[2], random_len), dtype=dtype)
    x = op.reshape(nn.dense(data, weight), (tensor_type_of(data).shape[0], *first))
    x = nn.relu(batch_norm_infer(x, "bn1"))
    for number, factor in enumerate((4, 2, 1), start=2):
        x = deconv_bn_relu(x, f"g{number}", ngf * factor)
    return network(op.tanh(conv2d_transpose(x, "g5_deconv", channels, (4, 4), (2, 2), (1, 1))))


def get_workload(
    batch_size: int | str = 1, oshape: Sequence[int] = (3, 64, 64), ngf: int = 128, random_len: int = 100,
    dtype: str = "float32", seed: int = 0,
) -> tuple[IRModule, Parameters]:  # fmt: skip
    """The module and its parameters. Raises `RelayError`: `bad-image-shape`."""
    return create_workload(get_net(batch_size, random_len, oshape, ngf, dtype), seed)
