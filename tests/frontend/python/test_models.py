"""Models that decorated functions know: from around them, in lists and dicts, or made inside."""

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
