"""Models as PyTorch exports them, with known and with symbolic extents."""

from __future__ import annotations

import io
import logging
import warnings

import onnx
import pytest
import torch
from torch import Tensor, nn

from relay.frontend.onnx import from_onnx
from tests.frontend.running import assert_close, run_onnxruntime, run_relay


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")
        self.out = nn.Linear(16, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.out(self.layer(self.embedding(tokens)).mean(1)).softmax(-1)


class Image(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.batch, self.group = nn.BatchNorm2d(8), nn.GroupNorm(2, 8)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        x = nn.functional.silu(self.group(self.batch(self.conv(image))))
        x = nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear")
        x = nn.functional.adaptive_avg_pool2d(x, (1, 1))
        x = x.view(x.shape[0], -1, 4)
        x = x[:, 1:] - x[:, :-1]
        return x.flatten(1), torch.cat([x, x], 1).permute(0, 2, 1)


class CausalAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project, self.norm = nn.Linear(16, 48), nn.LayerNorm(16)

    def forward(self, x: Tensor) -> Tensor:
        batch, sequence, width = x.shape
        parts = self.project(self.norm(x)).chunk(3, -1)
        query, key, value = (part.view(batch, sequence, 2, 8).transpose(1, 2) for part in parts)
        mask = torch.tril(torch.ones(sequence, sequence)).bool()
        scores = (query @ key.transpose(-1, -2) / 8**0.5).masked_fill(~mask, float("-inf"))
        return x + (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, sequence, width)


def exported(network: nn.Module, data: Tensor, axes: dict[int, str]) -> onnx.ModelProto:
    file = io.BytesIO()
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network.eval(), (data,), file, input_names=["x"], opset_version=17, dynamo=False, dynamic_axes={"x": axes}
        )
    logging.disable(logging.NOTSET)
    return onnx.load_from_string(file.getvalue())


@pytest.mark.parametrize("axes", [{}, {0: "n"}, {0: "n", 1: "t"}], ids=["static", "batch", "batch-and-sequence"])
@pytest.mark.parametrize("network", [Encoder, CausalAttention, Image])
def test_exported_models_equal_onnxruntime(network: type[nn.Module], axes: dict[int, str]) -> None:
    torch.manual_seed(0)
    shapes = {Encoder: (3, 7), CausalAttention: (3, 7, 16), Image: (3, 3, 9, 11)}
    data = torch.randint(0, 20, (3, 7)) if network is Encoder else torch.randn(*shapes[network])
    axes = {axis: name for axis, name in axes.items() if network is not Image or axis == 0}
    model = exported(network(), data, axes)
    module, params = from_onnx(model)
    feeds = {"x": data.numpy()}
    assert_close(run_relay(module, {**feeds, **params}), run_onnxruntime(model, feeds), 1e-4)
