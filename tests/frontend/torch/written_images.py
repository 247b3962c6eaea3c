"""Written models of images: networks of the usual kinds, as small as they can be and still have every part."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from tests.frontend.torch.case import Case, tensors


class Mlp(nn.Module):
    """Every plain activation function between linear layers."""

    def __init__(self) -> None:
        super().__init__()
        kinds = [
            nn.ReLU,
            nn.ReLU6,
            nn.LeakyReLU,
            nn.ELU,
            nn.SELU,
            nn.CELU,
            nn.GELU,
            nn.SiLU,
            nn.Mish,
            nn.Tanh,
            nn.Sigmoid,
            nn.Hardswish,
            nn.Hardsigmoid,
            nn.Hardtanh,
            nn.Softplus,
            nn.Softsign,
            nn.LogSigmoid,
            nn.Tanhshrink,
            nn.Hardshrink,
            nn.Softshrink,
            nn.PReLU,
        ]
        self.layers = nn.Sequential(*(layer for kind in kinds for layer in (nn.Linear(12, 12), kind())))
        self.head = nn.Linear(12, 5)

    def forward(self, x: Tensor) -> Tensor:
        return functional.log_softmax(self.head(self.layers(x)), -1)


class ResidualBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.conv2, self.norm2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        self.short = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu_(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        y += self.short(x)
        return functional.relu(y, inplace=True)


def resnet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
        ResidualBlock(8, 8, 1),
        ResidualBlock(8, 16, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


class InvertedResidual(nn.Module):
    """MobileNet-V3's block: expand, depthwise, squeeze and excite, project."""

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(8, 24, 1, bias=False), nn.BatchNorm2d(24), nn.Hardswish())
        self.depthwise = nn.Sequential(nn.Conv2d(24, 24, 5, 1, 2, groups=24, bias=False), nn.BatchNorm2d(24))
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(24, 6, 1), nn.ReLU(), nn.Conv2d(6, 24, 1), nn.Hardsigmoid()
        )
        self.project = nn.Sequential(nn.Conv2d(24, 8, 1, bias=False), nn.BatchNorm2d(8))

    def forward(self, x: Tensor) -> Tensor:
        y = self.depthwise(self.expand(x))
        return x + self.project(y * self.squeeze(y))


class ConvNextBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.depthwise, self.norm = nn.Conv2d(8, 8, 7, padding="same", groups=8), nn.LayerNorm(8)
        self.wide, self.narrow = nn.Linear(8, 32), nn.Linear(32, 8)
        self.scale = nn.Parameter(torch.full((8,), 0.5))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.narrow(functional.gelu(self.wide(y)))).permute(0, 3, 1, 2)


class DenseBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(4 + 4 * i), nn.ReLU(), nn.Conv2d(4 + 4 * i, 4, 3, padding=1)) for i in range(3)
        )

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return functional.avg_pool2d(x, 2)


class SegmentationHead(nn.Module):
    """Pyramid pooling, dilated convolutions, and maps brought to one size."""

    def __init__(self) -> None:
        super().__init__()
        self.dilated = nn.ModuleList(nn.Conv2d(8, 4, 3, padding=rate, dilation=rate) for rate in (1, 2, 4))
        self.pooled, self.out = nn.Conv2d(8, 4, 1), nn.Conv2d(16, 5, 1)

    def forward(self, x: Tensor) -> Tensor:
        size = x.shape[-2:]
        context = functional.interpolate(
            self.pooled(functional.adaptive_avg_pool2d(x, 2)), size, mode="bilinear", align_corners=False
        )
        parts = [functional.relu(conv(x)) for conv in self.dilated]
        return functional.interpolate(self.out(torch.cat([*parts, context], 1)), scale_factor=4.0, mode="bilinear")


class DetectionHead(nn.Module):
    """Anchors, boxes and scores of two levels, with the best of them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.out = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 2 * 6, 1)

    def forward(self, maps: list[Tensor]) -> dict[str, Tensor]:
        boxes, scores = [], []
        for level in maps:
            n, _, h, w = level.shape
            y = self.out(functional.silu(self.conv(level))).view(n, 2, 6, h, w).permute(0, 1, 3, 4, 2).reshape(n, -1, 6)
            grid = torch.stack(torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij"), -1).float()
            centres = y[..., :2].sigmoid() + grid.view(1, 1, h, w, 2).expand(1, 2, h, w, 2).reshape(1, -1, 2)
            boxes.append(torch.cat([centres - y[..., 2:4].exp() / 2, centres + y[..., 2:4].exp() / 2], -1))
            scores.append(y[..., 4:].softmax(-1)[..., 0])
        best, places = torch.cat(scores, 1).topk(5, dim=1)
        return {"scores": best, "boxes": torch.cat(boxes, 1).gather(1, places[..., None].expand(-1, -1, 4))}


class UNet(nn.Module):
    """A diffusion UNet's block: time embedding, group norm, attention over pixels, down and up."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8))
        self.norm1, self.conv1 = nn.GroupNorm(4, 8), nn.Conv2d(8, 8, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(4, 8), nn.Conv2d(8, 8, 3, padding=1)
        self.norm3, self.qkv, self.project = nn.GroupNorm(4, 8), nn.Conv1d(8, 24, 1), nn.Conv1d(8, 8, 1)
        self.down, self.up = nn.Conv2d(8, 8, 3, 2, 1), nn.ConvTranspose2d(8, 8, 4, 2, 1)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        frequencies = torch.exp(-math.log(10000.0) * torch.arange(4) / 4)
        angles = t[:, None].float() * frequencies[None]
        time = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        y = self.conv1(functional.silu(self.norm1(x))) + time[:, :, None, None]
        y = x + self.conv2(functional.silu(self.norm2(y)))
        y = self.down(y)
        n, c, h, w = y.shape
        q, k, v = self.qkv(self.norm3(y).view(n, c, h * w)).chunk(3, 1)
        weights = torch.einsum("bct,bcs->bts", q * c**-0.25, k * c**-0.25).softmax(-1)
        y = y + self.project(torch.einsum("bts,bcs->bct", weights, v)).view(n, c, h, w)
        return torch.cat([x, self.up(y), functional.interpolate(y, scale_factor=2, mode="nearest")], 1)


class Inception(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, (1, 7), padding=(0, 3))
        self.c, self.d = nn.Conv2d(4, 4, (3, 1), padding=(1, 0)), nn.AvgPool2d(3, 1, 1, count_include_pad=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.a(x), self.b(x), self.c(x), self.d(x), functional.max_pool2d(x, 3, 1, 1)], 1)


class Generator(nn.Module):
    """DCGAN's generator with instance norms and sub-pixel convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.ConvTranspose2d(10, 8, 4, 1, 0),
            nn.InstanceNorm2d(8, affine=True),
            nn.LeakyReLU(0.2),
            nn.ConvTranspose2d(8, 8, 4, 2, 1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Conv2d(8, 12, 3, padding=1),
            nn.PixelShuffle(2),
            nn.Tanh(),
            nn.ReflectionPad2d(2),
            nn.Conv2d(3, 3, 5),
        )

    def forward(self, z: Tensor) -> Tensor:
        return self.layers(z[:, :, None, None])


class Volume(nn.Module):
    """3-D convolutions and poolings."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.up = nn.Conv3d(2, 4, 3, padding=1), nn.BatchNorm3d(4), nn.ConvTranspose3d(4, 2, 2, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = functional.max_pool3d(functional.relu(self.norm(self.conv(x))), 2)
        return self.up(y), functional.adaptive_avg_pool3d(y, 1).flatten(1)


class VisionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch, self.token = nn.Conv2d(3, 16, 4, 4), nn.Parameter(torch.randn(1, 1, 16))
        self.places = nn.Parameter(torch.randn(1, 17, 16))
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, norm_first=True, batch_first=True, activation="gelu")
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        y = self.patch(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.token.expand(x.shape[0], -1, -1), y], 1) + self.places
        return self.head(self.norm(self.layer(y))[:, 0])


class SwinBlock(nn.Module):
    """Attention in windows that are shifted, with a table of relative positions."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)
        self.table = nn.Parameter(torch.randn(49, 2))
        places = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")).flatten(1)
        relative = (places[:, :, None] - places[:, None, :] + 3).permute(1, 2, 0)
        self.register_buffer("relative", relative[..., 0] * 7 + relative[..., 1])

    def forward(self, x: Tensor) -> Tensor:
        n, h, w, c = x.shape
        y = torch.roll(self.norm(x), (-2, -2), (1, 2))
        y = y.view(n, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        q, k, v = self.qkv(y).reshape(-1, 16, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        bias = self.table[self.relative.view(-1)].view(16, 16, 2).permute(2, 0, 1)
        y = ((q * (c // 2) ** -0.5) @ k.transpose(-2, -1) + bias).softmax(-1) @ v
        y = self.out(y.transpose(1, 2).reshape(-1, 16, c))
        y = y.view(n, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return x + torch.roll(y, (2, 2), (1, 2))


IMAGES: tuple[Case, ...] = (
    Case("mlp", Mlp, tensors((3, 12)), ({0: Dim.AUTO},)),
    Case("resnet", resnet, tensors((2, 3, 32, 32)), ({0: Dim.AUTO},)),
    Case("mobilenet block", InvertedResidual, tensors((2, 8, 10, 10)), ({0: Dim.AUTO},)),
    Case("convnext block", ConvNextBlock, tensors((2, 8, 9, 9)), ({0: Dim.AUTO},)),
    Case("dense block", DenseBlock, tensors((2, 4, 8, 8)), ({0: Dim.AUTO},)),
    Case("segmentation head", SegmentationHead, tensors((2, 8, 6, 6))),
    Case("detection head", DetectionHead, lambda size: (([torch.randn(2, 8, 6, 6), torch.randn(2, 8, 3, 3)],), {})),
    Case("unet block", UNet, lambda size: ((torch.randn(2, 8, 8, 8), torch.tensor([3, 70])), {})),
    Case("inception block", Inception, tensors((2, 4, 9, 9)), ({0: Dim.AUTO},)),
    Case("generator", Generator, tensors((2, 10)), ({0: Dim.AUTO},)),
    Case("volume", Volume, tensors((2, 2, 4, 6, 6))),
    Case("vision transformer", VisionTransformer, tensors((2, 3, 16, 16)), ({0: Dim.AUTO},)),
    Case("swin block", SwinBlock, tensors((2, 8, 8, 8)), ({0: Dim.AUTO},)),
)
