"""A slice of the list of models compared with eager; `python -m tests.frontend.torch.campaign` runs all of it."""

from __future__ import annotations

import pytest

from tests.frontend.torch.models import MODELS, TRANSFORMERS
from tests.frontend.torch.running import TOLERANCE, captured, differences

_BY_NAME = {case.name: case for case in MODELS}
_STATIC = (
    "mlp", "segmentation head", "detection head", "unet block", "generator", "swin block", "bert", "gpt with a cache",
    "experts", "graph network", "cache in buffers", "lstm both ways", "gru", "audio front end", "choice", "while loop",
    "scan", "map", "arithmetic", "shapes", "T5ForConditionalGeneration",
)  # fmt: skip
_DYNAMIC = ("resnet", "llama block", "GPT2LMHeadModel", "ViTModel")


def test_the_list_is_what_it_was_fixed_to_be():
    assert len(_BY_NAME) == len(MODELS) >= 60
    assert len(TRANSFORMERS) >= 30


@pytest.mark.parametrize("name", _STATIC)
def test_models_agree_with_eager(name: str):
    assert max(differences(_BY_NAME[name])) <= TOLERANCE


@pytest.mark.parametrize("name", _DYNAMIC)
def test_models_with_dynamic_dimensions_agree_at_two_sizes(name: str):
    assert max(differences(_BY_NAME[name], dynamic=True)) <= TOLERANCE


@pytest.mark.parametrize("name", ["mlp", "lstm"])
def test_compiled_models_agree_with_eager(name: str):
    assert max(differences(_BY_NAME[name], compiled=True)) <= TOLERANCE


@pytest.mark.parametrize(("name", "dynamic"), [
    ("bert", False), ("experts", False), ("lstm both ways", False), ("scan", False), ("llama block", True),
])  # fmt: skip
def test_captured_models_agree_with_eager_and_run_natively(name: str, dynamic: bool):
    gaps, coverage = captured(_BY_NAME[name], dynamic=dynamic)
    assert max(gaps) <= TOLERANCE
    assert coverage.native > 0
    assert not coverage.eager
