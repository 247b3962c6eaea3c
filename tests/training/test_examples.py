"""What `examples/training` promises, with less of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import relay
from tests.pages import run_page
from tests.training.examples import example


def test_digits_are_learnt(tmp_path: Path):
    """97 % in ten epochs; here are three."""
    trained = example("digits").train(epochs=3, curves=tmp_path / "digits.png", quiet=True)
    assert trained.records[-1]["measured accuracy"] > 0.94
    assert (tmp_path / "digits.png").exists()


def test_sentiment_of_trees_is_learnt():
    trained = example("trees").train(count=512, epochs=4, quiet=True)
    assert trained.records[-1]["loss"] < 0.6 * trained.records[0]["loss"]
    assert trained.records[-1]["measured accuracy"] > 0.8


def test_a_character_model_writes_from_a_library_of_its_own(tmp_path: Path):
    characters = example("characters")
    text = characters.train(tmp_path, hidden=16, epochs=1, count=20, quiet=True)
    assert len(text) == characters.WRITTEN
    again = relay.load(tmp_path / "characters.so")(ord("T"), relay.random.threefry_key(1).data, 0.5)
    assert bytes(np.asarray(again, np.uint8)).decode("ascii", "replace") == text


@pytest.mark.filterwarnings("ignore:.*LeafSpec.*:FutureWarning")
def test_a_vision_transformer_of_pytorch_gets_its_weights_back():
    vision = example("vision_transformer")
    torch.manual_seed(0)
    first = vision.Classifier().state_dict()
    trained, network = vision.train(count=256, epochs=2, quiet=True)
    assert trained.records[-1]["loss"] < trained.records[0]["loss"]
    changed = {name for name, each in network.state_dict().items() if not torch.equal(each, first[name])}
    assert changed == set(trained.state.params)
    assert not any("patch_embeddings" in name for name in changed)
    pixels, labels = vision.pictures(256, seed=2)
    with torch.no_grad():
        found = network(torch.from_numpy(pixels)).argmax(-1).numpy()
    assert np.mean(found == labels) == pytest.approx(trained.records[-1]["measured accuracy"], abs=0.01)


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    run_page("training.md", tmp_path)
