"""A graph in a folder: graph.json, lib.rlx (its kernels) and params.bin, which are told apart from those of others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.files import read_file, write_atomically
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.param_dict import load_param_dict, save_param_dict
from relay.runtime.graph.graph import Graph

GRAPH_FILE, LIBRARY_FILE, PARAMETER_FILE = "graph.json", "lib.rlx", "params.bin"
GRAPH_DIGEST = "graph"
"""The key in a library's provenance for the digest of the graph it was made for."""
PARAMETER_DIGEST = "parameters"
"""The key of the hash of params.bin in what the library tells of itself."""


def write_folder(path: Path, graph_json: str, lib: Artefact, params: Mapping[str, NDArray[np.generic]]) -> None:
    """Raises `RelayError` (rule `cannot-write`)."""
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise RelayError(rule="cannot-write", message=f"cannot make {path}", found=str(error.strerror)) from error
    data = save_param_dict(params)
    told = {**lib.manifest.provenance, PARAMETER_DIGEST: hashlib.sha256(data).hexdigest()}
    write_atomically(path / GRAPH_FILE, [graph_json.encode()])
    replace(lib, manifest=replace(lib.manifest, provenance=told)).save(path / LIBRARY_FILE)
    write_atomically(path / PARAMETER_FILE, [data])


def read_folder(path: Path) -> tuple[Graph, Artefact, dict[str, NDArray[np.generic]]]:
    """What `write_folder` wrote. Raises `RelayError`: `cannot-read`, `bad-graph`, `bad-artefact`, `bad-params`."""
    text, lib, data = read_file(path / GRAPH_FILE), Artefact.load(path / LIBRARY_FILE), read_file(path / PARAMETER_FILE)
    if lib.manifest.provenance.get(GRAPH_DIGEST) != graph_digest(text):
        raise RelayError(
            rule="bad-graph",
            message=f"{path / GRAPH_FILE} is not the graph that {LIBRARY_FILE} was made for",
            remedy="export the program again",
        )
    if lib.manifest.provenance.get(PARAMETER_DIGEST) != hashlib.sha256(data).hexdigest():
        raise RelayError(
            rule="bad-params",
            message=f"{path / PARAMETER_FILE} is not as it was written with {LIBRARY_FILE}",
            remedy="export the program again; to change parameters, load it and use `set_input`",
        )
    return Graph.from_json(text), lib, load_param_dict(data)


def graph_digest(text: str | bytes) -> str:
    """What tells the JSON of a graph from that of others."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()
