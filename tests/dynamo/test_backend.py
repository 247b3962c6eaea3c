"""What a user of `torch.compile(…, backend="relay")` gets: eager's results, and a report of what ran natively."""

from __future__ import annotations

import gc
import importlib
import tomllib
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import relay.dynamo
from relay.base.diagnostics import RelayError
from relay.dynamo import region_call
from relay.frontend.torch import report
from relay.runtime.memory.threads import num_threads
from tests.dynamo.running import Network, compiled
from tests.pages import run_page


@pytest.fixture(autouse=True)
def _without_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def assert_all_native(operators: int) -> None:
    assert (report().native, dict(report().eager)) == (operators, {})


def test_a_model_runs_natively():
    network, x = Network().eval(), torch.randn(3, 6)
    run = compiled(network)
    torch.testing.assert_close(run(x), network(x))
    assert_all_native(4)
    assert str(report()) == "4 of 4 operators run natively (100.0 %)"


def test_the_entry_point_is_the_backend():
    """As PyTorch finds it where the package is installed."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["torch_dynamo_backends"]["relay"].partition(":")
    assert getattr(importlib.import_module(module), name) is relay.dynamo.backend


def test_other_extents_do_not_compile_anew(builds: list[dict[str, Any]]):
    network = Network().eval()
    run = compiled(network)
    for rows in (3, 5, 7, 11):
        x = torch.randn(rows, 6)
        torch.testing.assert_close(run(x), network(x))
    assert len(builds) == 2  # the first extent, then any
    assert_all_native(8)


def test_numbers_that_vary_are_taken_as_they_come(builds: list[dict[str, Any]]):
    def rows(x: Tensor, count: int) -> Tensor:
        return torch.cat([x * count, x.new_ones(count, 2)])

    run = compiled(rows, dynamic=True)
    for count in (3, 4, 9):
        x = torch.randn(5, 2)
        torch.testing.assert_close(run(x, count), rows(x, count))
    assert len(builds) == 1
    assert report().share == 1.0


def test_negative_numbers_are_taken():
    run = compiled(lambda x, factor: x * factor, dynamic=True)
    x = torch.randn(3)
    for factor in (3, -5):
        torch.testing.assert_close(run(x, factor), x * factor)


# Weights


def test_weights_are_packed_once(builds: list[dict[str, Any]]):
    network, x = Network().eval(), torch.randn(3, 6)
    run = compiled(network)
    for _ in range(3):
        run(x)
    (weights,) = builds
    assert len(weights) == 6


def test_weights_that_change_are_packed_anew_and_then_are_inputs(builds: list[dict[str, Any]]):
    network, x = Network().eval(), torch.randn(3, 6)
    run = compiled(network)
    for _ in range(6):
        torch.testing.assert_close(run(x), network(x))
        network.first.weight.mul_(1.5)
    assert [len(each) for each in builds] == [6, 6, 6, 0]


def test_layers_that_share_code_have_their_own_weights():
    networks = [Network().eval() for _ in range(3)]

    @compiled
    def run(network: nn.Module, x: Tensor) -> Tensor:
        return network(x)

    x = torch.randn(3, 6)
    for network in networks * 2:
        torch.testing.assert_close(run(network, x), network(x))


def test_weights_are_not_kept_alive():
    network = Network().eval()
    compiled(network)(torch.randn(3, 6))
    weight = weakref.ref(network.first.weight)
    torch.compiler.reset()
    del network
    gc.collect()
    assert weight() is None


def test_buffers_that_the_model_changes_change():
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x: Tensor) -> Tensor:
            self.total += x
            return self.total * 2

    network, x = Counter(), torch.randn(3)
    run = compiled(network)
    for count in (1, 2, 3):
        torch.testing.assert_close(run(x), 2 * count * x)
    torch.testing.assert_close(network.total, 3 * x)


# What PyTorch runs


def test_operators_that_are_not_known_run_eagerly_between_regions():
    def spectrum(x: Tensor) -> Tensor:
        y = (x * 2).relu()
        return torch.fft.rfft(y).real * y.sum() + y[..., :3]

    x = torch.randn(3, 4)
    torch.testing.assert_close(compiled(spectrum)(x), spectrum(x))
    found = report()
    assert found.native >= 5
    assert ("aten._fft_r2c.default", "operator aten._fft_r2c.default") in found.eager
    assert 0.5 < found.share < 1


def test_regions_know_the_extents_of_the_graph(builds: list[dict[str, Any]]):
    conv = nn.Conv2d(1, 2, 3, stride=2)

    def model(x: Tensor, count: int) -> Tensor:
        y = conv(x).flatten(2)
        return torch.fft.fft(y).real * y.shape[2] + y.new_ones(y.shape[2] * count)[: y.shape[2]]

    run = compiled(model, dynamic=True)
    for size, count in ((9, 2), (12, 3), (20, 5)):
        x = torch.randn(1, 1, size, size + 4)
        torch.testing.assert_close(run(x, count), model(x, count), rtol=1e-4, atol=1e-4)
    assert set(dict(report().eager)) == {
        (name, f"operator {name}") for name in ("aten._fft_r2c.default", "aten.view_as_real.default")
    }
    assert len(builds) == 2


def test_graph_breaks_are_of_no_consequence():
    def broken(x: Tensor) -> Tensor:
        y = x.exp()
        torch._dynamo.graph_break()
        return y.cumsum(0)

    x = torch.randn(3, 4)
    torch.testing.assert_close(compiled(broken)(x), broken(x))
    assert_all_native(2)


def test_lengths_that_data_decide_are_found_by_pytorch():
    def positive(x: Tensor) -> Tensor:
        return (x[x > 0] * 2).sum()

    run = compiled(positive)
    for size in (5, 8, 13):
        x = torch.randn(size)
        torch.testing.assert_close(run(x), positive(x))


def test_a_region_that_does_not_compile_runs_eagerly(monkeypatch: pytest.MonkeyPatch):
    def refuses(*_: Any) -> Any:
        raise RelayError(rule="cannot-compile", message="no")

    monkeypatch.setattr(region_call, "build", refuses)
    x = torch.randn(3)
    with pytest.warns(UserWarning, match="does not compile: error\\[cannot-compile\\]: no"):
        found = compiled(lambda x: x.sin() + 1)(x)
    torch.testing.assert_close(found, x.sin() + 1)
    assert dict(report().eager) == {
        (name, "error[cannot-compile]: no"): 1 for name in ("aten.sin.default", "aten.add.Tensor")
    }
    assert report().native == 0


# Tensors


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.bool])
def test_every_element_type_crosses(dtype: torch.dtype):
    x = (torch.randn(3, 4) * 4).to(dtype)
    found = compiled(lambda x: (torch.maximum(x, x.roll(1, 0)), x.T))(x)
    torch.testing.assert_close(found, (torch.maximum(x, x.roll(1, 0)), x.T), rtol=0, atol=0)


def test_results_lie_in_memory_as_eager_lays_them():
    conv = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last).eval()
    x = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    expected = (conv(x), x.permute(1, 2, 3, 0) * 2)

    @compiled
    def run(x: Tensor) -> tuple[Tensor, Tensor]:
        return conv(x), x.permute(1, 2, 3, 0) * 2

    found = run(x)
    torch.testing.assert_close(found, expected)
    assert [each.stride() for each in found] == [each.stride() for each in expected]


def test_recurrent_layers_are_captured_whole():
    lstm, x = nn.LSTM(4, 5, 2, bidirectional=True).eval(), torch.randn(7, 2, 4)
    torch.testing.assert_close(compiled(lstm)(x), lstm(x))
    assert ("aten.lstm.input" in str(report()), report().share) == (False, 1.0)


def test_calls_use_the_threads_of_pytorch(monkeypatch: pytest.MonkeyPatch):
    seen: list[int] = []

    def recorded(count: int) -> Any:
        seen.append(count)
        return num_threads(count)

    monkeypatch.setattr(region_call, "num_threads", recorded)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        compiled(lambda x: x + 1)(torch.randn(3))
    finally:
        torch.set_num_threads(before)
    assert seen == [1]


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with torch.enable_grad():
        run_page("torch_compile.md", tmp_path)


# Options


def test_options_are_those_of_build(builds: list[dict[str, Any]]):
    x = torch.randn(3)
    torch.testing.assert_close(compiled(lambda x: x + 1, options={"opt_level": 1})(x), x + 1)
    assert len(builds) == 1


def test_other_options_are_refused():
    with pytest.raises(Exception, match="the backend has no option `level`"):
        compiled(lambda x: x + 1, options={"level": 3})(torch.randn(3))
