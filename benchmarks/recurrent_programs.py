"""The programs that `recurrent` measures, with weights and arguments; those they are compared with are not imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import relay
from relay.testing.measuring.peers import Call
from relay.testing.programs import char_rnn, recurrent_cells, seq2seq, tree_lstm

CHARACTERS = 100
LENGTH, INPUTS = 32, 128  # of the recurrent layers' sequences
VOCABULARY, TRANSLATION_HIDDEN, SOURCE_LENGTH, LIMIT = 2000, 256, 20, 40
TREES, LEAVES, TREE_HIDDEN = 8, (150 + 4) // 8, 128
HIDDEN = (128, 256, 512)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A module, the weights that are known when it is compiled, and what it is called with."""

    module: relay.IRModule
    weights: Mapping[str, NDArray[Any]]
    arguments: tuple[Any, ...]

    def build(self) -> relay.Executable:
        return relay.build(self.module, params=self.weights, opt_level=3)

    def call(self, executable: relay.Executable | None = None) -> Call:
        """Of what `build` gives, or of what was built before."""
        made = executable or self.build()
        return lambda: made(*self.arguments)


def generation(hidden: int) -> Program:
    arguments = (np.asarray(CHARACTERS, np.int32), np.asarray(1, np.int32), np.asarray(0, np.int32), np.float32(0))
    return Program(char_rnn.char_rnn(hidden).module, char_rnn.parameters(hidden), arguments)


def layer(kind: str, hidden: int) -> Program:
    xs = np.random.default_rng(0).standard_normal((LENGTH, INPUTS), dtype=np.float32)
    state = [np.zeros((1, hidden), np.float32)] * (2 if kind == "lstm" else 1)
    weights = recurrent_cells.parameters(kind, INPUTS, hidden)
    return Program(getattr(recurrent_cells, kind)(INPUTS, hidden).module, weights, (xs, *state))


def translation() -> Program:
    """The weights are those of a network that seldom ends a sentence."""
    module, weights = seq2seq.Greedy(seq2seq.Seq2Seq(VOCABULARY, TRANSLATION_HIDDEN), LIMIT).to_relay()
    source = np.random.default_rng(0).integers(2, VOCABULARY, SOURCE_LENGTH).astype(np.int32)
    return Program(module, weights, (source,))


def forest() -> Program:
    """A list of trees in one call."""
    tree_type = tree_lstm.tree_type(TREE_HIDDEN)
    random = np.random.default_rng(0)
    trees = [tree_lstm.random_tree(tree_type, LEAVES, TREE_HIDDEN, random) for _ in range(TREES)]
    module = tree_lstm.forest_lstm(tree_type, TREE_HIDDEN, TREE_HIDDEN).module
    return Program(module, tree_lstm.parameters(TREE_HIDDEN, TREE_HIDDEN), (trees,))


def small_call() -> Program:
    """So little to compute that it is the cost of a call."""
    x, y, z = (relay.var(name, shape=(16,)) for name in "xyz")
    function = relay.Function([x, y, z], relay.add(x, relay.multiply(y, z)))
    return Program(relay.IRModule.from_expr(function), {}, (np.ones(16, np.float32),) * 3)


RECURRENT: Mapping[str, Callable[[], Program]] = MappingProxyType(
    {
        **{f"charrnn_h{hidden}": lambda hidden=hidden: generation(hidden) for hidden in HIDDEN},
        **{f"{kind}_h{hidden}": lambda kind=kind, hidden=hidden: layer(kind, hidden)
           for kind in ("lstm", "gru") for hidden in HIDDEN},
        f"translation_h{TRANSLATION_HIDDEN}": translation,
        f"treelstm_h{TREE_HIDDEN}": forest,
        "a call with three arrays": small_call,
    }
)  # fmt: skip
