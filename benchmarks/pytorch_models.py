"""Models of PyTorch with random weights, in the sizes that they are used in, each with an input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch
import transformers
from torch import Tensor, nn

Made: TypeAlias = tuple[nn.Module, tuple[Tensor, ...]]


class First(nn.Module):
    """A model whose first result is what counts."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.model(*inputs)[0]


def _transformer(model: str, config: str, *shape: int, **options: Any) -> Callable[[], Made]:
    """A model of `transformers` in its first configuration; it takes an image, or tokens."""

    def make() -> Made:
        made = getattr(transformers, model)(getattr(transformers, config)(**options))
        given = torch.randn(shape) if len(shape) > 2 else torch.randint(0, 1000, shape)
        return First(made).eval(), (given,)

    return make


def _recurrent(layer: type[nn.Module], hidden: int, length: int) -> Callable[[], Made]:
    return lambda: (First(layer(hidden, hidden, 2)).eval(), (torch.randn(length, 1, hidden),))


def _network(*layers: Callable[[], nn.Module], shape: tuple[int, ...]) -> Callable[[], Made]:
    return lambda: (nn.Sequential(*(make() for make in layers)).eval(), (torch.randn(shape),))


LARGE: Mapping[str, Callable[[], Made]] = {
    "resnet50": _transformer("ResNetModel", "ResNetConfig", 1, 3, 224, 224),
    "mobilenet_v2": _transformer("MobileNetV2Model", "MobileNetV2Config", 1, 3, 224, 224),
    "convnext_tiny": _transformer("ConvNextModel", "ConvNextConfig", 1, 3, 224, 224),
    "vit_base": _transformer("ViTModel", "ViTConfig", 1, 3, 224, 224),
    "bert_base_128": _transformer("BertModel", "BertConfig", 1, 128),
    "gpt2_128": _transformer("GPT2Model", "GPT2Config", 1, 128, use_cache=False),
    "lstm_2x512": _recurrent(nn.LSTM, 512, 64),
    "gru_2x512": _recurrent(nn.GRU, 512, 64),
}
"""Of 2 ms or more in eager PyTorch."""

SMALL: Mapping[str, Callable[[], Made]] = {
    "mlp_256": _network(
        *(each for _ in range(4) for each in (lambda: nn.Linear(256, 256), nn.ReLU)), shape=(1, 256)
    ),
    "encoder_layer_64": _network(lambda: nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), shape=(1, 16, 64)),
    "convolutions_16": _network(
        lambda: nn.Conv2d(3, 16, 3, padding=1), lambda: nn.BatchNorm2d(16), nn.ReLU,
        lambda: nn.Conv2d(16, 16, 3, padding=1), nn.ReLU, lambda: nn.AdaptiveAvgPool2d(1), nn.Flatten,
        lambda: nn.Linear(16, 10), shape=(1, 3, 32, 32),
    ),
    "lstm_64": _recurrent(nn.LSTM, 64, 16),
}  # fmt: skip
