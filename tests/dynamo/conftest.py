"""Each test begins with nothing compiled, and the same seed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import relay
from relay.dynamo import region_call
from relay.frontend.torch import reset_report


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    relay.dynamo.register()
    torch.compiler.reset()
    reset_report()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        yield


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The parameters of each region that was compiled."""
    found: list[dict[str, Any]] = []
    build = region_call.build

    def recorded(module: Any, target: Any, params: dict[str, Any], opt_level: int) -> Any:
        found.append(params)
        return build(module, target, params, opt_level)

    monkeypatch.setattr(region_call, "build", recorded)
    return found
