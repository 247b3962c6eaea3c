"""Derivatives are those of PyTorch (`torch.func`): gradients, tangents and Hessian-vector products."""

import numpy as np
import pytest
import torch

import relay
from relay.ir.module import IRModule
from tests.autodiff.numerical import parsed, runner

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # torch.func.jvp's own
PARAMETERS = "%x: Tensor[(3, 4), float64], %y: Tensor[(3, 4), float64]"

PAIRS = {
    "tanh(%x) * %y": lambda x, y: torch.tanh(x) * y,
    "sigmoid(%x) / (%y + 2f64)": lambda x, y: torch.sigmoid(x) / (y + 2),
    "exp(sin(%x)) - cos(%y) * %x": lambda x, y: torch.exp(torch.sin(x)) - torch.cos(y) * x,
    "log(%x * %x + 1f64) * sqrt(%y * %y + 1f64)": lambda x, y: torch.log(x * x + 1) * torch.sqrt(y * y + 1),
    "erf(%x) * atan(%y)": lambda x, y: torch.erf(x) * torch.atan(y),
    "nn.softmax(%x * %y)": lambda x, y: torch.softmax(x * y, -1),
    "nn.log_softmax(%x) * %y": lambda x, y: torch.log_softmax(x, -1) * y,
    "nn.dense(%x, tanh(%y))": lambda x, y: x @ torch.tanh(y).T,
    "nn.dense(tanh(nn.dense(%x, %y)), transpose(%y))": lambda x, y: torch.tanh(x @ y.T) @ y,
    "maximum(%x, %y) * %x": lambda x, y: torch.maximum(x, y) * x,
    "minimum(%x, %y) * %y * %y": lambda x, y: torch.minimum(x, y) * y * y,
    "nn.relu(%x) * %y * %x": lambda x, y: torch.relu(x) * y * x,
    "where(%x > %y, %x * %y, sin(%x))": lambda x, y: torch.where(x > y, x * y, torch.sin(x)),
    "sum(%x * %x, axis=[1], keepdims=True) * %y": lambda x, y: (x * x).sum(1, keepdim=True) * y,
    "mean(%x * %y, axis=[0]) * %x": lambda x, y: (x * y).mean(0) * x,
    "max(%x * %y, axis=[1], keepdims=True) * %x": lambda x, y: (x * y).amax(1, keepdim=True) * x,
    "reshape(%x, newshape=[4, 3]) * transpose(%y)": lambda x, y: x.reshape(4, 3) * y.T,
    "concatenate((%x * %y, sin(%x)), axis=1)": lambda x, y: torch.cat((x * y, torch.sin(x)), 1),
    "stack((%x * %x, %y * %x), axis=0)": lambda x, y: torch.stack((x * x, y * x)),
    "strided_slice(%x, begin=[0, 1], end=[3, 3]) * strided_slice(%y, begin=[0, 0], end=[3, 2])": lambda x, y: (
        x[:, 1:3] * y[:, :2]
    ),
    "take(%x * %y, %i, axis=0)": lambda x, y: (x * y)[[2, 0, 2]],
    "power(%x * %x + 1f64, %y)": lambda x, y: (x * x + 1) ** y,
    "clip(%x * 2f64, a_min=-1, a_max=1) * %y * %x": lambda x, y: (x * 2).clamp(-1, 1) * y * x,
    "broadcast_to(sum(%x * %y, axis=[0], keepdims=True), shape=[5, 4])": lambda x, y: (
        (x * y).sum(0, keepdim=True).expand(5, 4)
    ),
}


def _given() -> list[np.ndarray]:
    random = np.random.default_rng(4)
    return [random.standard_normal((3, 4)) for _ in range(4)]


def _module(body: str) -> tuple[IRModule, list[np.ndarray]]:
    """The program that sums the sines of an expression, and what it takes beside `%x` and `%y`."""
    more = [np.array([2, 0, 2], "int32")] if "%i" in body else []
    index = ", %i: Tensor[(3,), int32]" if more else ""
    return parsed(f"def @main({PARAMETERS}{index}) {{ sum(sin({body})) }}"), more


@pytest.mark.parametrize("body", PAIRS)
@pytest.mark.parametrize("compiled", [True, False], ids=["native", "interpreted"])
def test_derivatives_are_those_of_pytorch(body, compiled):
    module, more = _module(body)
    x, y, d_x, d_y = _given()
    mine = tuple(map(torch.from_numpy, (x, y)))
    along = tuple(map(torch.from_numpy, (d_x, d_y)))

    def loss(*given):
        return torch.sin(PAIRS[body](*given)).sum()

    gradient = torch.func.grad(loss, (0, 1))
    value, tangent = torch.func.jvp(loss, mine, along)
    _, product = torch.func.jvp(gradient, mine, along)
    found, gradients = runner(relay.value_and_grad(module, wrt=["x", "y"]), compiled)(x, y, *more)
    np.testing.assert_allclose(found, value, rtol=1e-12)
    for own, wanted in zip(gradients, gradient(*mine), strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-10, atol=1e-12)
    _, own_tangent = runner(relay.jvp(module), compiled)(x, y, *more, d_x, d_y)
    np.testing.assert_allclose(own_tangent, tangent, rtol=1e-10)
    hessian = relay.jvp(relay.grad(module, wrt=["x", "y"]), wrt=["x", "y"])
    _, own_product = runner(hessian, compiled)(x, y, *more, d_x, d_y)
    for own, wanted in zip(own_product, product, strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-9, atol=1e-11)
