"""Written models that are programs: control flow, arithmetic of every type, shapes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from tests.frontend.torch.case import Case, tensors


class GraphNetwork(nn.Module):
    """Messages along edges, summed where they arrive, then a mean over the nodes of each graph."""

    def __init__(self) -> None:
        super().__init__()
        self.message, self.update = nn.Linear(8, 8), nn.GRUCell(8, 4)

    def forward(self, nodes: Tensor, edges: Tensor, graphs: Tensor) -> Tensor:
        sources, targets = edges
        messages = self.message(torch.cat([nodes[sources], nodes[targets]], -1)).relu()
        arrived = torch.zeros(nodes.shape[0], 8).index_add(0, targets, messages)
        nodes = self.update(arrived, nodes)
        sums = torch.zeros(2, 4).scatter_add(0, graphs[:, None].expand(-1, 4), nodes)
        largest = torch.zeros(2, 4).scatter_reduce(0, graphs[:, None].expand(-1, 4), nodes, "amax")
        return torch.cat([sums / torch.zeros(2).index_add(0, graphs, torch.ones(nodes.shape[0]))[:, None], largest], -1)


class Cache(nn.Module):
    """Keys and values of earlier tokens in buffers, written at a place that is given."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.register_buffer("keys", torch.zeros(1, 16, 8))
        self.register_buffer("values", torch.zeros(1, 16, 8))

    def forward(self, x: Tensor, place: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, -1)
        self.keys[:, place] = k
        self.values.index_copy_(1, place, v)
        mask = torch.arange(16)[None, :] <= place[:, None]
        return functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)


class Choice(nn.Module):
    """A branch that data choose."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: self.a(x).relu(), lambda x: self.b(x) * 2, (x,))


class WhileLoop(nn.Module):
    """Halved until it is small."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        from torch._higher_order_ops.while_loop import while_loop

        return while_loop(
            lambda turn, y: y.abs().sum() > 1,
            lambda turn, y: (turn + 1, y / 2),
            (torch.zeros((), dtype=torch.int64), x),
        )


class Scan(nn.Module):
    """A running sum with decay, and what it is at each step."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        from torch._higher_order_ops.scan import scan

        def step(state: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
            state = 0.5 * state + row
            return state, state.tanh()

        return scan(step, torch.zeros(x.shape[1]), x)


class Map(nn.Module):
    """A function of each row."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        from torch._higher_order_ops.map import map as each_of

        return each_of(lambda row, y: (row @ y).relu(), x, y)


class Arithmetic(nn.Module):
    """Types that PyTorch brings together, integers and booleans among them."""

    def forward(self, x: Tensor, k: Tensor) -> tuple[Tensor, ...]:
        flags = k > 2
        return (
            x * k,
            k / 2,
            k // 3,
            k % 3,
            -k % 3,
            x + flags,
            k + 1.5,
            k**2,
            x.abs() ** 2.5,
            2**x,
            flags & (x > 0).any(-1, True),
            ~flags,
            torch.where(flags, x, 0),
            k.float().round(),
            (x * 4).round(),
            x.clamp(max=0.5),
            k.clamp(1, 3),
            k.sum(),
            flags.sum(),
            flags.all(),
            x.argmax(),
            x.argmin(1),
            x.var(1),
            x.std(0, unbiased=False),
            x.norm(),
            x.logsumexp(0),
            x.cumsum(1),
            x.sort(1, descending=True)[0],
            x.max(1)[1],
            k.to(torch.float64).mean(),
            torch.floor(x),
            x.trunc(),
            x.fmod(0.7),
            x.remainder(0.7),
            torch.isnan(x),
            x.prod(0),
            torch.rsqrt(x.exp()),
            1 / x.exp(),
            x.expm1(),
        )


class Shapes(nn.Module):
    """Views, slices, indices and joins."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        n, _, w = x.shape
        rows, columns = torch.tensor([0, 1, 1]), torch.tensor([2, 0, -1])
        return (
            x.view(n, -1),
            x.transpose(0, 2),
            x.flip(1),
            x[:, ::2],
            x[:, -1],
            x[..., 1:-1],
            x[:, None].squeeze(1),
            x.unfold(2, 2, 1),
            x.repeat(1, 2, 1),
            x.repeat_interleave(2, 1),
            x[:, rows, columns],
            x[:, rows],
            x[rows, :, columns],
            functional.pad(x, (1, 2), value=3.0),
            functional.pad(x, (1, 1), mode="reflect"),
            functional.pad(x, (2, 0), mode="replicate"),
            x.roll(1, 1),
            torch.stack([x, x], 1),
            *x.split([1, 2], 1),
            *x.chunk(2, 2),
            x.tril(),
            x.triu(1),
            x.diagonal(0, 1, 2),
            x.unflatten(2, (2, w // 2)),
            x.index_select(1, rows),
            torch.zeros_like(x),
            torch.full((2, 2), 1.5),
            torch.eye(3),
            torch.linspace(0, 1, 5),
            x.new_ones(2),
            x.narrow(1, 0, 2),
        )


PROGRAMS: tuple[Case, ...] = (
    Case(
        "graph network",
        GraphNetwork,
        lambda size: (
            (torch.randn(5, 4), torch.randint(0, 5, (2, 9 + size)), torch.tensor([0, 0, 1, 1, 1])),
            {},
        ),
        (None, {1: Dim.AUTO}, None),
    ),
    Case("cache in buffers", Cache, lambda size: ((torch.randn(1, 2, 8), torch.tensor([3, 4])), {})),
    Case("choice", Choice, tensors((3, 4))),
    Case("while loop", WhileLoop, tensors((4,))),
    Case("scan", Scan, tensors((5, 3))),
    Case("map", Map, tensors((5, 3, 4), (4, 2))),
    Case("arithmetic", Arithmetic, lambda size: ((torch.randn(3, 5), torch.tensor([[0], [2], [4]])), {})),
    Case("shapes", Shapes, tensors((2, 3, 6))),
)
