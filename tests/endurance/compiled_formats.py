"""The formats of compiled programs. What is read of one gives the results of the whole file, whatever was damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import relay
from relay.runtime.profile.roofline import kept_roofline, machine_key
from tests.endurance.format import Format, caches_in, called

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
FIGURES = b'{"disturbed": false, "levels": [["L1", 32768, 1e11]], "peak_flops": {"float32": 1e11}, "threads": 1}'


def layer() -> relay.Function:
    x = relay.var("x", shape=(3, 4))
    return relay.Function([x], relay.nn.softmax(relay.exp(x) + relay.const(X)))


def compiled_formats(folder: Path) -> tuple[Format, ...]:
    """Files that are loaded, and files that are kept: these are made again when they are damaged."""
    executable = relay.build(layer())
    expected = executable(X)
    artefact, library = folder / "layer.rlx", folder / "layer.so"
    executable.save(artefact)
    executable.export(library)

    def same(result: object) -> None:
        np.testing.assert_array_equal(np.asarray(result), expected)

    def load(path: Path) -> None:
        same(relay.load(path)(X))

    return (
        Format("artefact", artefact.read_bytes(), load),
        Format("shared library", library.read_bytes(), called(folder / "damaged.so", load)),
        *_graph_parts(folder, same),
        *_kept(folder, same),
    )


def _graph_parts(folder: Path, same) -> list[Format]:
    whole, damaged = folder / "graph", folder / "damaged"
    relay.create_executor("graph", layer()).evaluate().export(whole)
    parts = {each.name: each.read_bytes() for each in whole.iterdir()}
    damaged.mkdir()

    def part(name: str) -> Format:
        def read(path: Path) -> None:
            for each, content in parts.items():
                (damaged / each).write_bytes(path.read_bytes() if each == name else content)
            same(relay.GraphExecutor.load(damaged)(X))

        return Format(f"graph folder: {name}", parts[name], read)

    return [part(name) for name in sorted(parts)]


def _kept(folder: Path, same) -> list[Format]:
    """Each kind has a cache of its own, in which the others are not: they would be found in its place."""
    model, models, kernels, machine = (folder / name for name in ("kept.relay", "models", "kernels", "machine"))
    model.write_text(relay.IRModule.from_expr(layer()).astext(), encoding="utf-8")
    with caches_in(models):
        relay.compile_model(model)
    (kept_model,) = models.rglob("*.rlx")
    with caches_in(kernels):
        relay.build(layer())
    kept_kernel = min(kernels.rglob("*.o"))

    def compile_model(_: Path) -> None:
        with caches_in(models):
            same(relay.compile_model(model)(X))

    def build(_: Path) -> None:
        with caches_in(kernels):
            same(relay.build(layer())(X))

    with caches_in(machine):
        figures = machine / "machine" / machine_key(1)[:2] / f"{machine_key(1)[2:]}.json"
    figures.parent.mkdir(parents=True)

    def figures_of_machine(_: Path) -> None:
        with caches_in(machine):
            kept_roofline(1)

    return [
        Format("kept model", kept_model.read_bytes(), called(kept_model, compile_model)),
        Format("kept kernel", kept_kernel.read_bytes(), called(kept_kernel, build)),
        Format("kept figures", FIGURES, called(figures, figures_of_machine)),
    ]
