"""What a user of `torch.compile(…, backend="relay")` gets who trains: eager's gradients, from native steps."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from relay.base.diagnostics import RelayError
from relay.dynamo import region_call
from relay.frontend.torch import report
from tests.dynamo.running import Network, compiled


def assert_gradients_agree(network: nn.Module, run: Any, *inputs: Tensor) -> None:
    """Of a loss in which the results differ, by all parameters and inputs that have gradients."""
    own = [each.detach().clone().requires_grad_(each.requires_grad) for each in inputs]
    eager = copy.deepcopy(network)
    for model, given in ((eager, inputs), (network, own)):
        model.zero_grad()
        results = (run if model is network else model)(*given)
        first = results[0] if isinstance(results, tuple) else results
        (first * torch.cos(torch.arange(first.numel())).view(first.shape)).sum().backward()
    for mine, theirs in zip([*network.parameters(), *own], [*eager.parameters(), *inputs], strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-4, atol=1e-5)
    for mine, theirs in zip(network.buffers(), eager.buffers(), strict=True):
        torch.testing.assert_close(mine, theirs)


def assert_all_native() -> None:
    assert report().native > 0
    assert not report().eager


def test_a_step_runs_natively_forward_and_backward(builds: list[dict[str, Any]]):
    network = Network()
    assert_gradients_agree(network, compiled(network), torch.randn(3, 6, requires_grad=True))
    assert_all_native()
    assert len(builds) == 2


def test_other_batches_do_not_compile_anew(builds: list[dict[str, Any]]):
    network = Network()
    run = compiled(network)
    for rows in (3, 5, 7, 11):
        assert_gradients_agree(network, run, torch.randn(rows, 6))
    assert len(builds) == 4  # the first extent, then any
    assert_all_native()


def test_steps_follow_eager_and_weights_that_are_learned_are_inputs(builds: list[dict[str, Any]]):
    network = Network()
    eager = copy.deepcopy(network)
    x, wanted = torch.randn(5, 6), torch.tensor([0, 3, 1, 2, 2])
    for model, run in ((network, compiled(network)), (eager, eager)):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for _ in range(10):
            optimizer.zero_grad()
            functional.cross_entropy(run(x), wanted).backward()
            optimizer.step()
    for mine, theirs in zip(network.parameters(), eager.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)
    assert builds == [{}, {}]


def test_a_loss_is_a_part_of_the_graph():
    network, wanted = Network(), torch.tensor([0, 3, 1])

    class WithLoss(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, x: Tensor) -> Tensor:
            return functional.cross_entropy(self.network(x), wanted, label_smoothing=0.1)

    model = WithLoss()
    assert_gradients_agree(model, compiled(model), torch.randn(3, 6))
    assert_all_native()


def test_weights_that_stay_are_packed_once(builds: list[dict[str, Any]]):
    network = Network()
    network.first.requires_grad_(False)
    network.norm.requires_grad_(False)
    run, x = compiled(network), torch.randn(3, 6)
    for _ in range(3):
        run(x).sum().backward()
    assert [len(each) for each in builds] == [4, 0]


# Networks


def test_running_statistics_are_written_back(builds: list[dict[str, Any]]):
    network = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
        nn.Conv2d(8, 8, 3, 2, groups=4), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4),
    )  # fmt: skip
    run = compiled(network)
    for batch in (2, 3, 5):
        assert_gradients_agree(network, run, torch.randn(batch, 3, 16, 16))
    assert network[1].num_batches_tracked == 3
    assert_all_native()
    assert len(builds) == 4


@pytest.mark.parametrize(
    ("kind", "lengths", "programs"), [(nn.LSTM, (7, 9, 4), 4), (nn.GRU, (7,), 2), (nn.RNN, (7,), 2)]
)
def test_recurrent_layers_are_whole_forward_and_backward(
    kind: Any, lengths: tuple[int, ...], programs: int, builds: list[dict[str, Any]]
):
    layer = kind(4, 5, bidirectional=kind is nn.GRU)
    run = compiled(layer)
    for length in lengths:
        assert_gradients_agree(layer, run, torch.randn(length, 2, 4))
    assert_all_native()
    assert report().native < 20
    assert len(builds) == programs


class Attention(nn.Module):
    def __init__(self, share: float = 0.0) -> None:
        super().__init__()
        self.inner, self.share = nn.Linear(8, 24), share

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.inner(x).view(*x.shape[:2], 3, 2, 4).permute(2, 0, 3, 1, 4)
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.share)


def test_attention_is_whole_forward_and_backward():
    network = Attention()
    assert_gradients_agree(network, compiled(network), torch.randn(2, 5, 8))
    assert_all_native()


def test_images_in_other_sizes():
    class Larger(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(2, 3, 3)

        def forward(self, x: Tensor) -> Tensor:
            y = self.conv(x)
            return functional.interpolate(y, (9, 7), mode="bilinear") + functional.interpolate(y, (9, 7))

    network = Larger()
    assert_gradients_agree(network, compiled(network), torch.randn(2, 2, 6, 6))
    assert_all_native()


# Random numbers


def test_what_is_dropped_has_no_gradient():
    x = torch.ones(200, 50, requires_grad=True)
    run = compiled(lambda x: functional.dropout(x, 0.25))
    y = run(x)
    y.sum().backward()
    assert torch.equal(x.grad, y)
    assert {0.0, 1 / 0.75} == {round(each, 6) for each in y.unique().tolist()} or len(y.unique()) == 2
    assert 0.23 < (y == 0).float().mean() < 0.27
    assert_all_native()


def test_random_numbers_follow_the_generator_of_pytorch():
    network = nn.Sequential(nn.Linear(20, 20), nn.Dropout(0.5), nn.Linear(20, 20), nn.Dropout(0.5))
    run, x = compiled(network), torch.randn(4, 20)
    found: list[Tensor] = []
    for seed in (1, 2, 1):
        torch.manual_seed(seed)
        found.append(run(x).detach())
    assert torch.equal(found[0], found[2])
    assert not torch.equal(found[0], found[1])
    assert_all_native()


def test_attention_and_layers_that_drop_are_native():
    for network in (Attention(0.5), nn.LSTM(8, 8, 2, dropout=0.5)):
        run = compiled(network)
        x = torch.randn(2, 5, 8, requires_grad=True)
        y = run(x)
        (y[0] if isinstance(y, tuple) else y).sum().backward()
        assert torch.isfinite(x.grad).all()
    assert_all_native()


# What PyTorch runs


def test_operators_that_are_not_known_run_eagerly_between_regions():
    class Spectrum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x: Tensor) -> Tensor:
            y = self.inner(x).relu()
            return torch.fft.rfft(y).abs() * y.sum()

    network = Spectrum()
    assert_gradients_agree(network, compiled(network), torch.randn(3, 4))
    found = report()
    assert found.native >= 5
    assert ("aten._fft_r2c.default", "operator aten._fft_r2c.default") in found.eager


def test_layers_that_relay_does_not_take_run_by_pytorch():
    layer = nn.LSTM(4, 5, proj_size=3)
    assert_gradients_agree(layer, compiled(layer), torch.randn(6, 2, 4))
    assert {name for name, _ in report().eager} == {"relay.lstm.default", "relay.lstm_backward.default"}


def test_regions_that_do_not_compile_run_eagerly(monkeypatch: pytest.MonkeyPatch):
    def refuses(*_: Any) -> Any:
        raise RelayError(rule="cannot-compile", message="no")

    monkeypatch.setattr(region_call, "build", refuses)
    network = nn.Sequential(Attention(), nn.Dropout(0.0))
    assert_gradients_agree(network, compiled(network), torch.randn(2, 5, 8))
    assert report().native == 0


def test_without_gradients_there_is_one_graph(builds: list[dict[str, Any]]):
    network, x = Network(), torch.randn(3, 6)
    run = compiled(network)
    with torch.no_grad():
        torch.testing.assert_close(run(x), network(x))
    assert [len(each) for each in builds] == [6]
    assert report().native == 4


def test_windows_over_images_of_any_size_go_back_by_pytorch():
    network = nn.Sequential(nn.Conv2d(2, 4, 3), nn.MaxPool2d(2))
    run = compiled(network, dynamic=True)
    for size in (12, 17):
        assert_gradients_agree(network, run, torch.randn(3, 2, size, size))
    assert {name for name, _ in report().eager} == {
        "aten.convolution_backward.default", "aten.max_pool2d_with_indices_backward.default",
    }  # fmt: skip
