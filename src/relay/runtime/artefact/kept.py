"""Artefacts that are kept between runs: those of models in files, and of decorated functions."""

from __future__ import annotations

from collections.abc import Mapping

from relay.base.diagnostics import RelayError
from relay.base.kept_files import KeptFiles
from relay.runtime.artefact.artefact import Artefact

DEFAULT_LIMIT_BYTES = 4 << 30


def kept_artefacts(environment: Mapping[str, str]) -> KeptFiles | None:
    """Where artefacts are kept (`RELAY_MODEL_CACHE_BYTES` of them); None when nothing is to be kept.

    Raises `RelayError` (rule `bad-setting`).
    """
    return KeptFiles.from_environment("models", ".rlx", "RELAY_MODEL_CACHE_BYTES", DEFAULT_LIMIT_BYTES, environment)


def kept_artefact(kept: KeptFiles, key: str | None) -> Artefact | None:
    """The artefact under a key, if there is a whole one. Raises `RelayError` (rule `unsafe-cache`)."""
    path = None if key is None else kept.find(key)
    if key is None or path is None:
        return None
    try:
        artefact = Artefact.load(path)
    except RelayError:
        kept.forget(key)
        return None
    kept.use(key)
    return artefact
