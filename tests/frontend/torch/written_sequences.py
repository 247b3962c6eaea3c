"""Written models of sequences: transformers, recurrent networks, audio."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from tests.frontend.torch.case import Case, tensors, tokens


class Attention(nn.Module):
    """Self-attention written out, with a causal mask."""

    def __init__(self, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        n, t, width = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, t, width))


class Bert(nn.Module):
    """Embeddings, two encoder layers with a padding mask, pooler and a head tied to the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(50, 16, 0), nn.Embedding(32, 16), nn.Embedding(2, 16)
        self.norm = nn.LayerNorm(16)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(16, 2, 32, activation="gelu", batch_first=True) for _ in range(2)
        )
        self.pooler, self.head = nn.Linear(16, 16), nn.Linear(16, 50, bias=False)
        self.head.weight = self.words.weight

    def forward(
        self, ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        kinds = torch.zeros_like(ids) if token_type_ids is None else token_type_ids
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])) + self.kinds(kinds))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=attention_mask == 0)
        return self.head(x), torch.tanh(self.pooler(x[:, 0]))


class Gpt(nn.Module):
    """A decoder with a cache: `past` has keys and values of a layer for each earlier token."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50, 16), nn.Embedding(32, 16)
        self.norm, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)
        self.final = nn.LayerNorm(16)

    def forward(self, ids: Tensor, past: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        n, t = ids.shape
        before = past[0].shape[2]
        x = self.words(ids) + self.places(torch.arange(before, before + t))
        q, k, v = (part.view(n, t, 2, 8).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
        k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        mask = torch.arange(before + t)[None, :] <= torch.arange(before, before + t)[:, None]
        y = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, 16))
        return self.final(x) @ self.words.weight.T, (k, v)


class Llama(nn.Module):
    """Rotary positions, grouped queries, root-mean-square norm, gated feed-forward."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(16, eps=1e-5), nn.RMSNorm(16)
        self.q, self.k, self.v = (
            nn.Linear(16, 16, bias=False),
            nn.Linear(16, 8, bias=False),
            nn.Linear(16, 8, bias=False),
        )
        self.gate, self.up, self.down = nn.Linear(16, 24), nn.Linear(16, 24), nn.Linear(24, 16)
        self.register_buffer("frequencies", 1.0 / 10000 ** (torch.arange(0, 4, 2) / 4), persistent=False)

    def turned(self, x: Tensor) -> Tensor:
        angles = torch.outer(torch.arange(x.shape[-2]).float(), self.frequencies)
        angles = torch.cat([angles, angles], -1)
        first, second = x[..., :2], x[..., 2:]
        return x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()

    def forward(self, x: Tensor) -> Tensor:
        n, t, _ = x.shape
        y = self.norm1(x)
        q = self.turned(self.q(y).view(n, t, 4, 4).transpose(1, 2))
        k = self.turned(self.k(y).view(n, t, 2, 4).transpose(1, 2))
        v = self.v(y).view(n, t, 2, 4).transpose(1, 2)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + y.transpose(1, 2).reshape(n, t, 16)
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class EncoderDecoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.body = nn.Transformer(16, 2, 1, 1, 32, batch_first=True)
        self.head = nn.Linear(16, 50)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        return self.head(self.body(self.words(source), self.words(target), tgt_mask=mask, tgt_is_causal=True))


class Experts(nn.Module):
    """Mixture of experts: each token is the weighted sum of its two best experts."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(8, 4, bias=False)
        self.wide, self.narrow = nn.Parameter(torch.randn(4, 8, 16) / 4), nn.Parameter(torch.randn(4, 16, 8) / 4)

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.router(x).softmax(-1).topk(2, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        share = (chosen[..., None] == torch.arange(4)).to(x.dtype).mul(weights[..., None]).sum(-2)
        outputs = torch.einsum("eth,ehd->etd", functional.gelu(torch.einsum("td,edh->eth", x, self.wide)), self.narrow)
        return torch.einsum("te,etd->td", share, outputs)


class Recurrent(nn.Module):
    """A recurrent layer over a batch of sequences, and a head on its last state."""

    def __init__(self, kind: type[nn.RNNBase], **options: Any) -> None:
        super().__init__()
        self.rnn = kind(6, 5, **options)

    def forward(self, x: Tensor) -> tuple[Tensor, Any]:
        return self.rnn(x)


class CellLoop(nn.Module):
    """Cells called step by step, which the export unrolls."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTMCell(6, 5), nn.GRUCell(5, 5), nn.RNNCell(5, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = c = g = r = torch.zeros(x.shape[1], 5)
        for row in x:
            h, c = self.lstm(row, (h, c))
            g = self.gru(h, g)
            r = self.rnn(g, r)
        return r


class Tacotron(nn.Module):
    """Convolutions over text, a bidirectional LSTM, and attention of a GRU decoder's state."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.conv, self.norm = nn.Embedding(50, 8), nn.Conv1d(8, 8, 5, padding=2), nn.BatchNorm1d(8)
        self.encoder, self.query = nn.LSTM(8, 4, bidirectional=True, batch_first=True), nn.Linear(8, 8)

    def forward(self, ids: Tensor) -> Tensor:
        x = functional.relu(self.norm(self.conv(self.words(ids).transpose(1, 2)))).transpose(1, 2)
        memory, _ = self.encoder(x)
        weights = (self.query(memory.mean(1, keepdim=True)) @ memory.transpose(1, 2)).softmax(-1)
        return (weights @ memory).squeeze(1)


class Audio(nn.Module):
    """A front end of frames, a filter bank and decibels, then 1-D convolutions with group norms."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))
        self.register_buffer("bank", torch.rand(9, 6))
        step = torch.arange(9)[:, None] * torch.arange(16) * 2 * math.pi / 16
        self.register_buffer("cosines", step.cos())
        self.register_buffer("sines", step.sin())
        self.conv, self.norm = nn.Conv1d(6, 8, 3, 2, 1), nn.GroupNorm(8, 8)

    def forward(self, wave: Tensor) -> Tensor:
        frames = torch.stack([wave[:, 4 * i : 4 * i + 16] for i in range(8)], 1) * self.window
        power = (frames @ self.cosines.T) ** 2 + (frames @ self.sines.T) ** 2
        decibels = 10 * torch.log10(torch.clamp(power @ self.bank, min=1e-10))
        decibels = torch.maximum(decibels, decibels.amax((1, 2), keepdim=True) - 80)
        scaled = (decibels - decibels.mean()) / (decibels.std() + 1e-5)
        return functional.glu(self.norm(self.conv(scaled.transpose(1, 2))), 1)


SEQUENCES: tuple[Case, ...] = (
    Case("attention", Attention, lambda size: ((torch.randn(2, 5 + size, 16),), {}), ({1: Dim.AUTO},)),
    Case(
        "bert",
        Bert,
        lambda size: (
            (torch.randint(0, 50, (2, 7 + size)),),
            {"attention_mask": torch.tensor([[1] * (7 + size), [1] * 5 + [0] * (2 + size)])},
        ),
        {"ids": {1: Dim.AUTO}, "attention_mask": {1: Dim.AUTO}},
    ),
    Case(
        "gpt with a cache",
        Gpt,
        lambda size: (
            (torch.randint(0, 50, (2, 3)), (torch.randn(2, 2, 4 + size, 8), torch.randn(2, 2, 4 + size, 8))),
            {},
        ),
        (None, ({2: Dim.AUTO}, {2: Dim.AUTO})),
    ),
    Case("llama block", Llama, lambda size: ((torch.randn(2, 5 + size, 16),), {}), ({1: Dim.AUTO},)),
    Case(
        "encoder and decoder",
        EncoderDecoder,
        lambda size: ((torch.randint(0, 50, (2, 6)), torch.randint(0, 50, (2, 4))), {}),
    ),
    Case("experts", Experts, tensors((5, 8)), ({0: Dim.AUTO},)),
    Case("lstm", lambda: Recurrent(nn.LSTM), tensors((4, 2, 6)), ({0: Dim.AUTO},)),
    Case(
        "lstm both ways",
        lambda: Recurrent(nn.LSTM, num_layers=2, bidirectional=True, batch_first=True),
        tensors((4, 2, 6)),
        ({0: Dim.AUTO, 1: Dim.AUTO},),
    ),
    Case("gru", lambda: Recurrent(nn.GRU, bidirectional=True), tensors((4, 2, 6)), ({0: Dim.AUTO},)),
    Case("rnn", lambda: Recurrent(nn.RNN, nonlinearity="relu", bias=False), tensors((4, 2, 6)), ({0: Dim.AUTO},)),
    Case("elman", lambda: Recurrent(nn.RNN), tensors((4, 2, 6)), ({0: Dim.AUTO},)),
    Case("cells", CellLoop, tensors((3, 2, 6))),
    Case("tacotron", Tacotron, tokens(2, 6), ({1: Dim.AUTO},)),
    Case("audio front end", Audio, tensors((2, 44))),
)
