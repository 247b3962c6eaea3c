"""Models as programs against PyTorch with the same weights: one compilation for every length and every tree."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import relay
from relay.testing.programs import char_rnn, recurrent_cells, recurrent_layers, seq2seq, tree_lstm
from tests.lower.interpreting import run_as_text

INPUTS, HIDDEN = 12, 16
TORCH = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}


NAMES = {"w_ih": "weight_ih", "w_hh": "weight_hh", "b_ih": "bias_ih", "b_hh": "bias_hh"}


def peer(kind, weights, inputs=INPUTS):
    layer = TORCH[kind](inputs, HIDDEN)
    layer.load_state_dict({f"{NAMES[name]}_l0": torch.from_numpy(each) for name, each in weights.items()})
    return layer


def all_close(found, expected):
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(left, right.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", TORCH)
def test_recurrent_layers(kind):
    weights = recurrent_cells.parameters(kind, INPUTS, HIDDEN)
    program = getattr(recurrent_cells, kind)(INPUTS, HIDDEN).module
    native = relay.build(program, params=weights, opt_level=3)
    meant = relay.create_executor("interpreter", mod=program, params=weights).evaluate()
    by_form = run_as_text(program, 3, params=weights, quickly=True)
    layer = peer(kind, weights)
    state = [np.zeros((1, HIDDEN), np.float32)] * (2 if kind == "lstm" else 1)
    for length in (1, 2, 7, 32):
        xs = np.random.default_rng(length).standard_normal((length, INPUTS), dtype=np.float32)
        with torch.no_grad():
            _, expected = layer(torch.from_numpy(xs)[:, None])
        expected = [each[0].numpy() for each in (expected if kind == "lstm" else (expected,))]
        for run in (native, meant, by_form):
            found = run(xs, *state)
            for left, right in zip(found if kind == "lstm" else (found,), expected, strict=True):
                np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)


def layered_peer(kind, weights, hidden, layers, bidirectional):
    """PyTorch's layers with the weights that ours name `layers.<layer>.<way>.<name>`."""
    peer = TORCH[kind](INPUTS, hidden, layers, bidirectional=bidirectional)
    state = {}
    for path, each in weights.items():
        _, layer, way, name = path.split(".")
        state[f"{NAMES[name]}_l{layer}{'_reverse' * int(way)}"] = torch.from_numpy(each)
    peer.load_state_dict(state)
    return peer


@pytest.mark.parametrize(("kind", "layers", "bidirectional"), [("rnn", 2, True), ("gru", 2, False), ("lstm", 1, True)])
def test_layers_over_sequences_of_several_lengths(kind, layers, bidirectional):
    hidden = 5
    program, weights = recurrent_layers.recurrent_layers(kind, INPUTS, hidden, layers, bidirectional).to_relay()
    native = relay.build(program, params=weights, opt_level=3)
    meant = relay.create_executor("interpreter", mod=program, params=weights).evaluate()
    by_form = run_as_text(program, 3, params=weights, quickly=True)
    layer = layered_peer(kind, weights, hidden, layers, bidirectional)
    for lengths in ([1], [3, 6, 1], [4, 4], [9]):
        padded = np.random.default_rng(1).standard_normal((max(lengths), len(lengths), INPUTS), dtype=np.float32)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            torch.from_numpy(padded), torch.tensor(lengths), enforce_sorted=False
        )
        with torch.no_grad():
            outputs, state = layer(packed)
        outputs, _ = torch.nn.utils.rnn.pad_packed_sequence(outputs)
        for run in (native, meant, by_form):
            found, last = run(padded, np.array(lengths, np.int32))
            all_close((found, *last), (outputs, *(state if kind == "lstm" else (state,))))


def gumbel(key, step, vocabulary):
    """The noise of `char_rnn`, in NumPy."""
    with np.errstate(over="ignore"):
        x = np.arange(vocabulary, dtype=np.int32) * np.int32(747796405)
        x = x + (np.int32(key) * np.int32(277803737) + np.int32(step) * np.int32(1442695041))
        for _ in range(2):
            x = (x ^ ((x >> 16) & 65535)) * np.int32(73244475)
        x = (x ^ ((x >> 16) & 65535)) & 8388607
    return -np.log(-np.log((x.astype(np.float32) + np.float32(0.5)) * np.float32(1 / 8388608)))


def generated(weights, n, first, key, temperature):
    """What `char_rnn` gives, by PyTorch."""
    p = {name: torch.from_numpy(each) for name, each in weights.items()}
    h, character, checksum = torch.zeros(1, HIDDEN), first, 0
    for step in range(n):
        h = torch.tanh(torch.cat([p["embedding"][character][None], h], 1) @ p["w"].T + p["b"])
        scores = (h @ p["w_out"].T + p["b_out"])[0].numpy()
        if temperature > 0:
            scores = scores + gumbel(key, step, len(scores)) * np.float32(temperature)
        character = int(scores.argmax())
        checksum = (checksum + character * (step + 1)) % 2**32
    return checksum, character, h.numpy()


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_generative_rnn(temperature):
    weights = char_rnn.parameters(HIDDEN)
    program = char_rnn.char_rnn(HIDDEN).module
    native = relay.build(program, params=weights, opt_level=3)
    meant = relay.create_executor("interpreter", mod=program, params=weights).evaluate()
    by_form = run_as_text(program, 3, params=weights, quickly=True)
    texts = set()
    for n, first, key in ((0, 3, 1), (1, 3, 1), (20, 65, 1), (20, 65, 2)):
        arguments = (np.int32(n), np.int32(first), np.int32(key), np.float32(temperature))
        checksum, character, h = generated(weights, n, first, key, temperature)
        for run in (native, meant, by_form):
            found = run(*arguments)
            assert (int(found[0]) % 2**32, int(found[1])) == (checksum, character)
            np.testing.assert_allclose(found[2], h, rtol=1e-4, atol=1e-5)
        texts.add(checksum)
    assert len(texts) == (4 if temperature else 3)  # another key gives another text, where there is noise


def encoded(tree, p):
    if type(tree).__name__ == "Leaf":
        i, o, u = (torch.from_numpy(tree.word) @ p["w_leaf"].T + p["b_leaf"]).chunk(3, 1)
        c = i.sigmoid() * u.tanh()
    else:
        (left_h, left_c), (right_h, right_c) = encoded(tree.left, p), encoded(tree.right, p)
        gates = torch.cat([left_h, right_h], 1) @ p["w_node"].T + p["b_node"]
        i, o, u, f_left, f_right = gates.chunk(5, 1)
        c = i.sigmoid() * u.tanh() + f_left.sigmoid() * left_c + f_right.sigmoid() * right_c
    return o.sigmoid() * c.tanh(), c


def test_a_tree_lstm():
    weights, tree_type = tree_lstm.parameters(INPUTS, HIDDEN), tree_lstm.tree_type(INPUTS)
    program = tree_lstm.tree_lstm(tree_type, INPUTS, HIDDEN).module
    native = relay.build(program, params=weights, opt_level=3)
    meant = relay.create_executor("interpreter", mod=program, params=weights).evaluate()
    by_form = run_as_text(program, 3, params=weights, quickly=True)
    random = np.random.default_rng(0)
    p = {name: torch.from_numpy(each) for name, each in weights.items()}
    for leaves in (1, 2, 9, 30):
        tree = tree_lstm.random_tree(tree_type, leaves, INPUTS, random)
        for run in (native, meant, by_form):
            for left, right in zip(run(tree), encoded(tree, p), strict=True):
                np.testing.assert_allclose(left, right.numpy(), rtol=1e-4, atol=1e-5)


VOCABULARY, LIMIT, WIDTH = 11, 12, 3


class Translation:
    """`seq2seq` by PyTorch: what was read of a source, and the step that writes."""

    def __init__(self, weights, source):
        self.p = {name.removeprefix("network."): torch.from_numpy(each) for name, each in weights.items()}
        self.cell = torch.nn.GRUCell(HIDDEN, HIDDEN)
        self.cell.load_state_dict({NAMES[name]: self.p[name] for name in NAMES})
        encoder = peer("gru", {name: self.p[f"encoder.{name}"].numpy() for name in NAMES}, HIDDEN)
        outputs, self.h = encoder(self.p["source"][torch.from_numpy(source).long()][:, None])
        self.read, self.h = outputs[:, 0], self.h[0]

    def step(self, token, h):
        h = self.cell(self.p["target"][token][None], h)
        context = torch.softmax(h @ self.read.T, 1) @ self.read
        attending = torch.tanh(torch.cat([context, h], 1) @ self.p["attend"].T)
        return torch.log_softmax(attending @ self.p["w_out"].T + self.p["b_out"], 1)[0], h

    def greedy(self):
        tokens, token, h = [], seq2seq.START, self.h
        while len(tokens) < LIMIT:
            scores, h = self.step(token, h)
            token = int(scores.argmax())
            if token == seq2seq.END:
                break
            tokens.append(token)
        return tokens

    def beams(self):
        """The sentences and their scores, the likeliest first; an END that was written is the last of its sentence."""
        found = [(0.0, [], self.h)]
        for _ in range(LIMIT):
            following = []
            for score, tokens, h in found:
                if tokens[-1:] == [seq2seq.END]:
                    following.append((score, tokens, h))
                    continue
                scores, after = self.step(tokens[-1] if tokens else seq2seq.START, h)
                following += [(score + float(each), [*tokens, token], after) for token, each in enumerate(scores)]
            found = sorted(following, key=lambda each: -each[0])[:WIDTH]
        return [([token for token in tokens if token != seq2seq.END], score) for score, tokens, _ in found]


def network():
    """One whose sentences end, some before the limit."""
    made = seq2seq.Seq2Seq(VOCABULARY, HIDDEN, seed=4)
    made.w_out *= 4
    return made


def compiled(model):
    program, weights = model.to_relay()
    meant = relay.create_executor("interpreter", mod=program, params=weights).evaluate()
    by_form = run_as_text(program, 3, params=weights, quickly=True)
    return (relay.build(program, params=weights, opt_level=3), meant, by_form), weights


def sources():
    random = np.random.default_rng(0)
    return [random.integers(2, VOCABULARY, length).astype(np.int32) for length in (1, 2, 3, 5, 8, 13)]


def padded(tokens):
    return [*tokens, *[seq2seq.END] * (LIMIT - len(tokens))]


@torch.no_grad()
def test_greedy_translation():
    runs, weights = compiled(seq2seq.Greedy(network(), LIMIT))
    lengths = set()
    for source in sources():
        expected = Translation(weights, source).greedy()
        for run in runs:
            tokens, count = run(source)
            assert (tokens.tolist(), count) == (padded(expected), len(expected))
        lengths.add(len(expected))
    assert min(lengths) < LIMIT == max(lengths)  # both ways out of the loop were taken


@torch.no_grad()
def test_translation_with_beams():
    runs, weights = compiled(seq2seq.Beams(network(), WIDTH, LIMIT))
    improved = 0
    for source in sources():
        translation = Translation(weights, source)
        expected = translation.beams()
        for run in runs:
            tokens, count, score = run(source)
            assert tokens.tolist() == [padded(sentence) for sentence, _ in expected]
            assert count.tolist() == [len(sentence) for sentence, _ in expected]
            np.testing.assert_allclose(score, [each for _, each in expected], rtol=1e-4)
        improved += expected[0][0] != translation.greedy()
    assert improved  # a beam finds what the greedy choice misses
