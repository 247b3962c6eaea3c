"""Derivatives of programs of all forms that PyTorch can say are those of `torch.func`: gradients, tangents and
Hessian-vector products."""

import numpy as np
import pytest
import torch

import relay
from tests.autodiff.numerical import parsed

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # torch.func.jvp's own

FORMS = {
    "a choice that is taken": (
        "let %s = sum(%x); if (%s > -100f64) { %x * %y } else { sin(%x) }",
        lambda x, y: x * y,
    ),
    "a choice that is not taken": (
        "let %s = sum(%x); if (%s > 100f64) { %x * %y } else { sin(%x) * %y }",
        lambda x, y: torch.sin(x) * y,
    ),
    "a choice inside a choice": (
        "if (sum(%x) > -100f64) { let %t = %x * %y; if (sum(%t) > 100f64) { %t } else { exp(%t) } } else { %x }",
        lambda x, y: torch.exp(x * y),
    ),
    "a loop": ("@turns(4, %x, %y)", lambda x, y: _turns(4, x, y)),
    "a loop of no turns": ("@turns(0, %x, %y)", lambda x, y: _turns(0, x, y)),
    "recursion that is no loop": ("@below(3, %x) * %y", lambda x, y: _below(3, x) * y),
    "a function that is handed over": (
        "@apply(fn (%a: Tensor[(3, 4), float64]) { %a * tanh(%a) }, %x) * %y",
        lambda x, y: x * torch.tanh(x) * y,
    ),
    "a closure": (
        "let %f = fn (%a: Tensor[(3, 4), float64]) { %a * %y }; %f(%f(%x))",
        lambda x, y: x * y * y,
    ),
    "a closure that is chosen": (
        "let %f = if (sum(%x) > -100f64) { fn (%a: Tensor[(3, 4), float64]) { %a * %y } } "
        "else { fn (%a: Tensor[(3, 4), float64]) { sin(%a) } }; %f(sin(%x))",
        lambda x, y: torch.sin(x) * y,
    ),
    "a tuple": ("let %t = (%x * %y, sin(%x)); %t.0 * %t.1", lambda x, y: x * y * torch.sin(x)),
    "a generic function": ("@same((%x, %y)).0 * %y", lambda x, y: x * y),
    "a list": ("@total(Cons(%x, Cons(%y, Cons(%x * %y, Nil))))", lambda x, y: x * x + y * y + (x * y) ** 2),
    "a tree": (
        "@over(Node(Node(Leaf(%x), Leaf(%y)), Leaf(sin(%x))))",
        lambda x, y: torch.tanh(torch.tanh(x * y) * torch.sin(x)),
    ),
    "a reference": ("let %r = ref(%x); %r := %r^ * %y; %r := sin(%r^); %r^", lambda x, y: torch.sin(x * y)),
    "a gradient inside": (
        "grad(fn (%a: Tensor[(3, 4), float64]) { sum(%a * %a * %y) }, wrt=0)(%x)",
        lambda x, y: 2 * x * y,
    ),
    "a tangent inside": (
        "jvp(fn (%a: Tensor[(3, 4), float64]) { sin(%a) * %a })(%x, %y).1",
        lambda x, y: (torch.cos(x) * x + torch.sin(x)) * y,
    ),
    "what is stopped": ("stop_gradient(%x * %y) * %x", lambda x, y: (x * y).detach() * x),
    "what is computed again": (
        "checkpoint(fn (%a: Tensor[(3, 4), float64]) { tanh(%a) * %a })(%x) * %y",
        lambda x, y: torch.tanh(x) * x * y,
    ),
    "a product of batches": (
        "reshape(nn.batch_matmul(reshape(%x, newshape=[3, 2, 2]), reshape(%y, newshape=[3, 2, 2])), newshape=[3, 4])",
        lambda x, y: torch.bmm(x.reshape(3, 2, 2), y.reshape(3, 2, 2)).reshape(3, 4),
    ),
    "a convolution": (
        "nn.conv2d(reshape(%x, newshape=[1, 1, 3, 4]), reshape(strided_slice(%y, begin=[0, 0], end=[2, 2]), "
        "newshape=[1, 1, 2, 2]), padding=[1, 1, 1, 1])",
        lambda x, y: torch.nn.functional.conv2d(x.reshape(1, 1, 3, 4), y[:2, :2].reshape(1, 1, 2, 2), padding=1),
    ),
    "a pooling": (
        "nn.max_pool2d(reshape(%x * %y, newshape=[1, 1, 3, 4]), pool_size=[2, 2], strides=[1, 1])",
        lambda x, y: torch.nn.functional.max_pool2d((x * y).reshape(1, 1, 3, 4), 2, 1),
    ),
    "a mean over windows": (
        "nn.avg_pool2d(reshape(%x * %y, newshape=[1, 1, 3, 4]), pool_size=[2, 2], strides=[1, 1])",
        lambda x, y: torch.nn.functional.avg_pool2d((x * y).reshape(1, 1, 3, 4), 2, 1),
    ),
    "a norm of rows": (
        "nn.layer_norm(%x * %y, take(%y, 0, axis=0), take(%x, 1, axis=0))",
        lambda x, y: torch.nn.functional.layer_norm(x * y, (4,), y[0], x[1]),
    ),
    "a cumulative sum": ("cumsum(%x * %y, axis=1)", lambda x, y: torch.cumsum(x * y, 1)),
    "a cumulative product": ("cumprod(%x, axis=0) * %y", lambda x, y: torch.cumprod(x, 0) * y),
    "a sort": ("sort(%x * %y, axis=1)", lambda x, y: torch.sort(x * y, 1).values),
    "the largest": ('topk(%x, k=2, axis=1, ret_type="values") * take(%y, 0)', lambda x, y: x.topk(2, 1)[0] * y[0, 0]),
    "padding": (
        "nn.pad(%x * %y, pad_width=[[1, 0], [0, 2]], pad_value=1.5)",
        lambda x, y: torch.nn.functional.pad(x * y, (0, 2, 1, 0), value=1.5),
    ),
    "padding by reflection": (
        'nn.mirror_pad(%x * %y, pad_width=[[1, 1], [1, 1]], mode="REFLECT")',
        lambda x, y: torch.nn.functional.pad((x * y)[None], (1, 1, 1, 1), mode="reflect")[0],
    ),
    "elements by their places": (
        "gather_nd(%x * %y, %places)",
        lambda x, y: (x * y)[[0, 2, 2], [1, 3, 3]],
    ),
    "repetition": (
        "repeat(%x, repeats=2, axis=1) * repeat(%y, repeats=2, axis=1)",
        lambda x, y: (x * y).repeat_interleave(2, 1),
    ),
    "tiles": ("tile(%x * %y, reps=[2, 1])", lambda x, y: (x * y).repeat(2, 1)),
    "parts": (
        "let %p = split(%x * %y, indices_or_sections=2, axis=1); %p.0 * sin(%p.1)",
        lambda x, y: (x * y)[:, :2] * torch.sin((x * y)[:, 2:]),
    ),
    "a variance": (
        "let %p = %x * %y; variance(%p, mean(%p, axis=[1], keepdims=True), axis=[1], keepdims=True) * %x",
        lambda x, y: (x * y).var(1, correction=0, keepdim=True) * x,
    ),
    "a product of all": ("prod(%x, axis=[1], keepdims=True) * %y", lambda x, y: x.prod(1, keepdim=True) * y),
    "a smooth step": (
        "%x * (0.5f64 + 0.5f64 * erf(%x * 0.7071067811865476f64)) * %y",
        lambda x, y: torch.nn.functional.gelu(x) * y,
    ),
}

LIBRARY = """
type List[A] { Cons(A, List[A]), Nil }
type Tree { Leaf(Tensor[(3, 4), float64]), Node(Tree, Tree) }
def @turns(%i: int32, %x: Tensor[(3, 4), float64], %y: Tensor[(3, 4), float64]) -> Tensor[(3, 4), float64] {
  if (%i == 0) { %x } else { @turns(%i - 1, tanh(%x * %y), %y) }
}
def @below(%i: int32, %x: Tensor[(3, 4), float64]) -> Tensor[(3, 4), float64] {
  if (%i == 0) { %x } else { sin(%x) * @below(%i - 1, %x * %x) }
}
def @apply(%f: fn (Tensor[(3, 4), float64]) -> Tensor[(3, 4), float64], %x: Tensor[(3, 4), float64])
    -> Tensor[(3, 4), float64] { %f(%x) }
def @same[A](%x: A) -> A { %x }
def @total(%xs: List[Tensor[(3, 4), float64]]) -> Tensor[(3, 4), float64] {
  match (%xs) { Nil => zeros(shape=[3, 4], dtype="float64"), Cons(%h, %t) => %h * %h + @total(%t) }
}
def @over(%t: Tree) -> Tensor[(3, 4), float64] {
  match (%t) { Leaf(%x) => %x, Node(%l, %r) => tanh(@over(%l) * @over(%r)) }
}
"""


def _turns(count, x, y):
    for _ in range(count):
        x = torch.tanh(x * y)
    return x


def _below(count, x):
    return x if count == 0 else torch.sin(x) * _below(count - 1, x * x)


def loss_of(body, library=LIBRARY):
    """A program that gives a number of what `body` makes of x and y, and its other arguments: places, if any."""
    places = [np.array([[0, 2, 2], [1, 3, 3]])] if "%places" in body else []
    more = ", %places: Tensor[(2, 3), int64]" if places else ""
    params = f"%x: Tensor[(3, 4), float64], %y: Tensor[(3, 4), float64]{more}"
    return parsed(f"{library} def @main({params}) {{ let %v = {{ {body} }}; sum(sin(%v)) }}"), places


@pytest.mark.parametrize("title", FORMS)
def test_derivatives_are_those_of_pytorch(title):
    body, meaning = FORMS[title]
    random = np.random.default_rng(6)
    x, y, d_x, d_y = (random.standard_normal((3, 4)) for _ in range(4))
    module, places = loss_of(body)

    def loss(x, y):
        return torch.sin(meaning(x, y)).sum()

    mine, along = (tuple(map(torch.from_numpy, each)) for each in ((x, y), (d_x, d_y)))
    wanted, product = torch.func.jvp(torch.func.grad(loss, (0, 1)), mine, along)
    hessian = relay.jvp(relay.grad(module, wrt=["x", "y"]), wrt=["x", "y"])
    gradients, found = relay.build(hessian)(x, y, *places, d_x, d_y)
    for own, other in zip((*gradients, *found), (*wanted, *product), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-11)
    _, tangent = torch.func.jvp(loss, mine, along)
    value, own_tangent = relay.build(relay.jvp(module, wrt=["x", "y"]))(x, y, *places, d_x, d_y)
    np.testing.assert_allclose(own_tangent, tangent, rtol=1e-10)
    np.testing.assert_allclose(value, loss(*mine), rtol=1e-12)
