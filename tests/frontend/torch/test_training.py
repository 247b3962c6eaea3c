"""What a user gets who trains a model that `from_pytorch` imported, and who sends the weights back."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import relay
from relay.base.diagnostics import RelayError
from relay.frontend import from_pytorch
from relay.frontend.torch import load_into
from tests.frontend.torch.models import MODELS
from tests.frontend.torch.running import arrays
from tests.frontend.torch.training import comparable, loss_of, trained

pytestmark = pytest.mark.filterwarnings("ignore")
_BY_NAME = {case.name: case for case in MODELS}


class Loss(nn.Module):
    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, *inputs: Any) -> Tensor:
        return loss_of(self.network(*inputs))


class Counting(nn.Module):
    """A loss with a batch norm, whose statistics move."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(2, 4, 3, bias=False), nn.BatchNorm2d(4), nn.Linear(4, 3)

    def forward(self, x: Tensor, wanted: Tensor) -> Tensor:
        y = functional.max_pool2d(functional.relu(self.norm(self.conv(x))), 2).mean((2, 3))
        return functional.cross_entropy(self.out(y), wanted)


# Through torch.compile; `python -m tests.frontend.torch.campaign --training` runs all models


@pytest.mark.parametrize(("name", "dynamic"), [("resnet", True), ("mobilenet block", False), ("bert", False)])
def test_a_step_of_a_model_agrees_with_eager(name: str, dynamic: bool):
    found = trained(_BY_NAME[name], dynamic=dynamic)
    assert found.agrees, found
    assert found.coverage.native > 0
    assert not found.coverage.eager


# Imported


@pytest.mark.parametrize("name", ["mlp", "lstm both ways", "vision transformer"])
def test_gradients_of_imported_models_agree_with_eager(name: str):
    torch.manual_seed(0)
    model = Loss(comparable(_BY_NAME[name].module())).double()
    args, _ = _BY_NAME[name].inputs(0)
    args = tuple(each.double() if each.is_floating_point() else each for each in args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module, params = from_pytorch(model, args, training=True)
        model(*args).backward()
    learned = {key: each.grad.numpy() for key, each in model.named_parameters() if key in params}
    _, found = relay.build(relay.value_and_grad(module, wrt=list(learned)))(*arrays(args), **params)
    for mine, theirs in zip(found, learned.values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-10)


def test_steps_follow_eager_and_come_back_into_the_module():
    """Statistics of batches are results behind the loss, which the program names."""
    torch.manual_seed(0)
    model = Counting().double()
    eager, x, wanted = copy.deepcopy(model), torch.randn(5, 2, 8, 8, dtype=torch.float64), torch.tensor([0, 2, 1, 1, 0])
    module, params = from_pytorch(model, (x, wanted), training=True)
    updates = module["main"].attrs["updates"]
    assert updates == ("norm.running_mean", "norm.running_var", "norm.num_batches_tracked")
    learned = [name for name, _ in model.named_parameters()]
    step = relay.build(relay.vjp(module, wrt=learned))
    optimizer = torch.optim.SGD(eager.parameters(), lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        eager(x, wanted).backward()
        optimizer.step()
        by = (np.array(1.0), np.zeros(4), np.zeros(4), ())  # by the loss alone
        (_, *changed), gradients = step(x.numpy(), wanted.numpy(), *params.values(), by)
        params |= {name: params[name] - 0.1 * each for name, each in zip(learned, gradients, strict=True)}
        params |= dict(zip(updates, changed, strict=True))
    load_into(model, params)
    for name, mine in model.state_dict().items():
        torch.testing.assert_close(mine, eager.state_dict()[name], rtol=1e-9, atol=1e-12)
    assert model.norm.num_batches_tracked == 5


def test_what_is_dropped_is_drawn_by_a_key():
    model, x = nn.Sequential(nn.Dropout(0.25), nn.Dropout2d(0.5)), torch.ones(1, 50, 8, 8)
    module, params = from_pytorch(model, (x,), training=True)
    assert [each.name_hint for each in module["main"].params] == ["input", "key"]
    assert not params
    run = relay.build(module)
    first, again, other = (run(x.numpy(), relay.random.threefry_key(seed).data) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert {0.0, np.float32(1 / 0.75 / 0.5)} == set(np.unique(first))
    assert 0.2 < (first != 0).mean() < 0.55


# Back into the module


def test_weights_of_every_element_type_come_back():
    module = nn.Module()
    module.wide, module.narrow = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))
    module.register_buffer("count", torch.tensor(0))
    module.tied = module.wide
    load_into(
        module, {"tied": np.ones(2, np.float32), "narrow": np.full(2, 3, ml_dtypes.bfloat16), "count": np.array(7)}
    )
    assert (module.wide.tolist(), module.narrow.tolist(), module.count.item()) == ([1, 1], [3, 3], 7)


@pytest.mark.parametrize(("params", "rule"), [
    ({"weight": np.zeros((3, 2), np.float32), "bios": np.zeros(3)}, "unknown-parameter"),
    ({"weight": np.ones((3, 2), np.float32), "bias": np.ones(2, np.float32)}, "wrong-shape"),
    ({"weight": np.ones((3, 2), np.float32), "bias": np.ones(3)}, "wrong-dtype"),
])  # fmt: skip
def test_nothing_is_written_unless_everything_fits(params: dict[str, Any], rule: str):
    module = nn.Linear(2, 3)
    before = module.weight.detach().clone()
    with pytest.raises(RelayError, match=rule):
        load_into(module, params)
    assert torch.equal(module.weight, before)
