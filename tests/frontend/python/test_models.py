"""Models that decorated functions know: from around them, in lists and dicts, or made inside."""

from typing import NamedTuple

import numpy as np

import relay

Rows = relay.Tensor[("n", 4)]
R = np.random.default_rng(0)
X = R.standard_normal((3, 4)).astype(np.float32)


@relay.model
class Linear:
    def __init__(self, inputs: int, outputs: int):
        self.weight = np.random.default_rng(inputs).standard_normal((inputs, outputs)).astype(np.float32)
        self.bias = np.ones(outputs, np.float32)

    def __call__(self, x: Rows):
        return x @ self.weight + self.bias

    @property
    def outputs(self):
        return self.weight.shape[1]


@relay.model
class Relu:
    def __call__(self, x: Rows):
        return np.maximum(x, 0)


@relay.model
class Stack:
    def __init__(self, *layers):
        self.layers = layers

    def __call__(self, x: Rows):
        for position, layer in enumerate(self.layers):
            x = layer(x)
            if layer is self.layers[-1] and position != len(self.layers) - 1:
                x = x * 2
        return x


LAYERS = [Linear(4, 4), Relu(), Linear(4, 4)]
TABLE = {"first": LAYERS[0], "second": LAYERS[1]}


def test_a_function_goes_over_models_from_around_it():
    def through(x: Rows):
        for layer in LAYERS:
            x = layer(x)
            if isinstance(layer, Linear):
                x = x + layer.outputs
            if type(layer) is Relu and callable(layer):
                x = x * 2
        return x

    np.testing.assert_allclose(relay.function(through)(X), through(X), rtol=1e-5)


def test_a_function_gets_at_parts_of_models():
    def parts(x: Rows):
        first, kinds = TABLE["first"], {"rows": Relu}
        return TABLE["second"](x) @ first.weight.T, getattr(first, "bias"), kinds["rows"]()(x)  # noqa: B009

    for found, wanted in zip(relay.function(parts)(X), parts(X), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_a_model_met_twice_is_one():
    def same(x: Rows):
        shared = LAYERS[0]
        return shared is TABLE["first"], shared in LAYERS, LAYERS[1] is LAYERS[0], LAYERS.index(LAYERS[2]), x

    assert relay.function(same)(X)[:4] == same(X)[:4] == (True, True, False, 2)


def test_layers_that_are_shared_share_their_parameters():
    tied = Linear(4, 4)
    model = Stack(tied, Relu(), tied)
    _, params = model.to_relay()
    assert list(params) == ["layers.0.weight", "layers.0.bias"]
    np.testing.assert_allclose(model(X), Stack.__call__.__wrapped__(model, X), rtol=1e-5)


@relay.model
class Scaled:
    factor = 3.0

    def __init__(self):
        self.offset = np.ones(4, np.float32)

    @staticmethod
    def doubled(x):
        return x * 2

    @classmethod
    def scaled(cls, x):
        return cls.doubled(x) * cls.factor

    def __call__(self, x: Rows):
        return self.scaled(self.doubled(x)) + self.offset


def test_methods_of_the_class_are_called():
    model = Scaled()
    np.testing.assert_allclose(model(X), X * 12 + 1, rtol=1e-6)
    np.testing.assert_allclose(relay.function(lambda_of(model))(X), X * 14 + 1, rtol=1e-6)


def lambda_of(model):
    def called(x: Rows):
        return model(x) + model.doubled(x)

    return called


class Gates(NamedTuple):
    inputs: np.ndarray
    states: np.ndarray
    bias: tuple[np.ndarray, float]


@relay.model
class Cell:
    def __init__(self):
        weights = [np.random.default_rng(seed).standard_normal((4, 4)).astype(np.float32) for seed in range(2)]
        self.gates = Gates(*weights, (np.ones(4, np.float32), 0.5))
        self.pairs = [(weights[0], np.ones(4, np.float32)), (weights[1], np.zeros(4, np.float32))]

    @staticmethod
    def sigmoid(x, scale=1.0):
        return scale / (1 + np.exp(-x))

    def step(self, x, h, gates):
        bias, scale = gates.bias
        return self.sigmoid(x @ gates.inputs + h @ gates.states + bias, scale=scale)

    def __call__(self, x: Rows):
        for weight, bias in self.pairs:
            x = self.sigmoid(x @ weight + bias)
        return self.step(x, x, self.gates), len(self.pairs[0])


def test_parts_of_models_are_what_they_are_in_python():
    model = Cell()
    assert list(model.to_relay()[1]) == [
        "pairs.0.0", "pairs.0.1", "pairs.1.0", "pairs.1.1", "gates.0", "gates.1", "gates.2.0",
    ]  # fmt: skip
    (found, count), (wanted, _) = model(X), Cell.__call__.__wrapped__(model, X)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert count == 2

    def stepped(x: Rows):
        return model.step(x, x * 2, model.gates)

    np.testing.assert_allclose(relay.function(stepped)(X), stepped(X), rtol=1e-5)
