"""What a user of `from_pytorch` gets: names, orders, types, checks of the run, and errors."""

from __future__ import annotations

import json
import os
import re
import warnings
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import relay
from relay.base.diagnostics import RelayError
from relay.frontend import from_pytorch
from relay.frontend.torch import CONVERTERS
from relay.frontend.torch.node import TorchNode, converters
from relay.interpret.evaluate import evaluate
from relay.ir.expr import Let
from relay.ir.traversal import post_order
from relay.ir.variables import free_vars
from tests.frontend.torch import refused
from tests.pages import run_page

GOLDEN = Path(__file__).parents[2] / "golden" / "errors" / "torch"


@pytest.fixture(autouse=True)
def _quiet():
    """PyTorch warns of what it does itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def golden(name: str, error: RelayError) -> None:
    path = GOLDEN / name
    text = re.sub(rf"{re.escape(__file__)}:\d+", f"…/{Path(__file__).name}", str(error)) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


class Network(nn.Module):
    """Nested inputs, one that is left out, a buffer that changes, tied weights, a number among the outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.unused = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)
        self.second.weight = self.first.weight
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.factor = torch.tensor([2.0, 3.0, 4.0])

    def forward(self, pair: tuple[Tensor, dict[str, Tensor]], mask: Tensor | None = None, scale: float = 1.0) -> Any:
        x, others = pair
        self.calls += 1
        y = self.second(self.first(x)) * self.factor * scale
        return {"y": y + others["bias"], "rows": x.shape[0], "mask": mask}


def test_parameters_have_their_names_and_tied_weights_are_one():
    inputs = ((torch.randn(2, 3), {"bias": torch.randn(3)}),)
    module, params = from_pytorch(Network(), inputs, {"mask": None, "scale": 2.0})
    names = [var.name_hint for var in module["main"].params]
    assert names == ["pair_0", "pair_1_bias", "first.weight", "first.bias", "second.bias", "calls"]
    assert list(params) == names[2:]
    assert isinstance(params["first.weight"], np.ndarray)


def test_outputs_are_followed_by_what_the_model_changes():
    network, x, bias = Network(), torch.randn(2, 3), torch.randn(3)
    module, params = from_pytorch(network, ((x, {"bias": bias}),))
    y, rows, calls = evaluate(module, {"pair_0": x.numpy(), "pair_1_bias": bias.numpy(), **params})
    np.testing.assert_allclose(y, network((x, {"bias": bias}))["y"].detach(), rtol=1e-5)
    assert (int(rows), int(calls)) == (2, 1)


def test_frozen_parameters_are_constants():
    module, params = from_pytorch(nn.Linear(3, 2), (torch.randn(1, 3),), freeze_params=True)
    assert len(module["main"].params) == 1
    assert not params


def test_a_program_a_file_and_a_module_are_one(tmp_path: Path):
    network, x = nn.Sequential(nn.Linear(3, 4), nn.GELU()), torch.randn(5, 3)
    program = torch.export.export(network, (x,), dynamic_shapes=({0: Dim("rows", min=4)},))
    torch.export.save(program, tmp_path / "model.pt2")
    modules = [
        from_pytorch(program), from_pytorch(tmp_path / "model.pt2"),
        from_pytorch(network, (x,), dynamic_shapes=({0: Dim("rows", min=4)},)),
    ]  # fmt: skip
    assert len({module.astext() for module, _ in modules}) == 1
    found = relay.build(modules[1][0], params=modules[1][1])(x.numpy())
    np.testing.assert_allclose(found, network(x).detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_keep_their_element_type(dtype: torch.dtype):
    network, x = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 4)).to(dtype), torch.randn(3, 8).to(dtype)
    module, params = from_pytorch(network, (x,))
    array = params["0.weight"][:1, :1].dtype
    assert array.name == str(dtype).removeprefix("torch.")
    given = x.view(torch.int16).numpy().view(array) if dtype is torch.bfloat16 else x.numpy()
    found = np.asarray(evaluate(module, {"input": given, **params})).astype(np.float64)
    tolerance = {torch.float16: 4e-3, torch.bfloat16: 4e-2, torch.float64: 1e-12}[dtype]
    np.testing.assert_allclose(found, network(x).detach().double(), rtol=tolerance, atol=tolerance)


# What the export took for granted


class Specialised(nn.Module):
    """The export keeps the branch of its example in silence."""

    def forward(self, x: Tensor) -> Tensor:
        return x + 1 if x.shape[0] // 2 == 1 else x - 1


def test_a_guard_of_the_export_is_a_check_of_the_run():
    module, _ = from_pytorch(Specialised(), (torch.zeros(3),), dynamic_shapes=({0: Dim.AUTO},))
    run = relay.build(module)
    np.testing.assert_array_equal(run(np.zeros(2, np.float32)), np.ones(2, np.float32))
    with pytest.raises(RelayError, match=r"exported for inputs where \(x\.size\(\)\[0\] // 2\) == 1"):
        run(np.zeros(4, np.float32))
    with pytest.raises(RelayError, match="check-failed"):
        evaluate(module, [np.zeros(4, np.float32)])


def test_guards_are_checked_before_anything_is_computed():
    class Rows(nn.Module):
        def forward(self, table: Tensor, rows: Tensor) -> Tensor:
            return table[rows].sum() if table.shape[0] // 2 == 1 else table.sum()

    module, _ = from_pytorch(Rows(), (torch.zeros(3, 2), torch.tensor([1])), dynamic_shapes=({0: Dim.AUTO}, None))
    with pytest.raises(RelayError, match="exported for inputs where"):
        relay.build(module)(np.zeros((4, 2), np.float32), np.array([9]))


def test_a_range_that_the_user_gives_is_a_check_of_the_run():
    module, _ = from_pytorch(nn.ReLU(), (torch.zeros(5),), dynamic_shapes=({0: Dim("n", min=3, max=8)},))
    evaluate(module, [np.zeros(8, np.float32)])
    for extent in (2, 9):
        with pytest.raises(RelayError, match="check-failed"):
            evaluate(module, [np.zeros(extent, np.float32)])


class Derived(nn.Module):
    """Extents that are sums, products and quotients of others."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        n, m = x.shape
        z = torch.cat([x, y], 0).reshape(-1, m // 2)
        return z[: n * m // 2] * (n + 2 * m)


def test_symbolic_arithmetic_is_followed():
    rows, columns = Dim("rows", min=2), Dim("half") * 2
    given = torch.randn(3, 4), torch.randn(5, 4)
    module, _ = from_pytorch(Derived(), given, dynamic_shapes=({0: rows, 1: columns}, {0: Dim("others"), 1: columns}))
    x, y = torch.randn(2, 6), torch.randn(7, 6)
    np.testing.assert_allclose(relay.build(module)(x.numpy(), y.numpy()), Derived()(x, y), rtol=1e-6)


class Floats(nn.Module):
    """Numbers that are no integers, of extents."""

    def forward(self, x: Tensor) -> Tensor:
        return x / x.shape[0] ** 0.5 + x.mean() * (1 / x.shape[0]) - 2.5 * x.shape[0]


def test_floats_of_extents_are_computed_by_the_run():
    module, _ = from_pytorch(Floats(), (torch.randn(5, 3),), dynamic_shapes=({0: Dim.AUTO},))
    x = torch.randn(7, 3)
    np.testing.assert_allclose(relay.build(module)(x.numpy()), Floats()(x), rtol=1e-5)


class Items(nn.Module):
    """Numbers that data decide."""

    def forward(self, x: Tensor, k: Tensor) -> Tensor:
        return x * k.item() + x[:1, :1].item()


def test_elements_taken_as_numbers_are_computed_with():
    x, k = torch.randn(5, 3), torch.tensor(3)
    module, _ = from_pytorch(Items(), (x, k))
    np.testing.assert_allclose(evaluate(module, [x.numpy(), k.numpy()]), Items()(x, k), rtol=1e-6)


class Sequence(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(x)[0]


def test_a_recurrent_layer_of_dynamic_length_computes_what_its_steps_share_once():
    network, x = Sequence(), torch.randn(5, 2, 3)
    module, params = from_pytorch(network, (x,), dynamic_shapes=({0: Dim.DYNAMIC},))
    assert str(module["main"].checked_type).endswith("-> Tensor[(x_0, 2, 4), float32]")
    (loop,) = (
        node.value for node in post_order(module["main"]) if isinstance(node, Let) and node.var.name_hint == "loop"
    )
    assert not {var.name_hint for var in free_vars(loop)} & {"x", "lstm.weight_ih_l0"}
    longer = torch.randn(9, 2, 3)
    np.testing.assert_allclose(relay.build(module, params=params)(longer.numpy()), network(longer).detach(), atol=1e-6)


def test_an_export_leaves_pytorch_as_it_was():
    class Fails(Sequence):
        def forward(self, x: Tensor) -> Tensor:
            raise ValueError(self.lstm(x)[0])

    kernels = dict(torch.ops.aten.lstm.input.py_kernels)
    from_pytorch(Sequence(), (torch.randn(5, 2, 3),))
    with pytest.raises(RelayError, match="cannot-export"):
        from_pytorch(Fails(), (torch.randn(5, 2, 3),))
    assert torch.ops.aten.lstm.input.py_kernels == kernels


def test_threads_export_one_after_another():
    def exported(_: int) -> str:
        return from_pytorch(Sequence(), (torch.randn(5, 2, 3),), dynamic_shapes=({0: Dim.DYNAMIC},))[0].astext()

    kernels = dict(torch.ops.aten.lstm.input.py_kernels)
    with ThreadPoolExecutor(3) as threads:
        assert len(set(threads.map(exported, range(3)))) == 1
    assert torch.ops.aten.lstm.input.py_kernels == kernels


# Errors


def test_all_that_is_unsupported_is_one_error_with_the_users_lines():
    with pytest.raises(RelayError) as caught:
        from_pytorch(refused.Unsupported(), (torch.randn(3, 3),))
    golden("unsupported.txt", caught.value)


def test_custom_operators_and_sparse_weights_are_refused_by_name():
    with pytest.raises(RelayError) as caught:
        from_pytorch(refused.Custom(), (torch.randn(3, 3),))
    golden("custom.txt", caught.value)


def test_dropout_in_training_is_refused():
    with pytest.raises(RelayError) as caught:
        from_pytorch(refused.InTraining(), (torch.randn(2, 3),))
    golden("in_training.txt", caught.value)


def test_what_torch_cannot_export_is_told_in_its_words():
    class Branches(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x if x.sum() > 0 else -x

    with pytest.raises(RelayError, match="data-dependent") as caught:
        from_pytorch(Branches(), (torch.randn(3),))
    assert caught.value.rule == "cannot-export"


def test_example_inputs_are_for_modules():
    program = torch.export.export(nn.ReLU(), (torch.randn(3),))
    with pytest.raises(RelayError) as caught:
        from_pytorch(program, (torch.randn(3),))
    golden("example_inputs.txt", caught.value)


def test_other_values_are_no_models():
    with pytest.raises(RelayError) as caught:
        from_pytorch(3)
    golden("not_a_model.txt", caught.value)


def test_a_converter_that_disagrees_with_pytorch_is_found(monkeypatch: pytest.MonkeyPatch):
    wrong = converters("relu", lambda node: relay.transpose(TorchNode.expr(node), (1, 0)))
    table = {**CONVERTERS, **{record.operator: record for record in wrong}}
    monkeypatch.setattr("relay.frontend.torch.importing.CONVERTERS", table)
    with pytest.raises(RelayError, match="types-disagree"):
        from_pytorch(nn.ReLU(), (torch.randn(2, 3),))


@pytest.mark.parametrize("name", sorted(name for name in CONVERTERS if name.startswith("aten.")))
def test_every_converter_is_of_an_operator_that_pytorch_has(name: str):
    _, packet, overload = name.split(".")
    assert overload in getattr(torch.ops.aten, packet).overloads()


def test_an_input_alone_is_no_tuple_of_inputs():
    with pytest.raises(RelayError) as caught:
        from_pytorch(nn.ReLU(), torch.randn(3))
    golden("inputs.txt", caught.value)


# Files


def test_a_pickle_is_refused(tmp_path: Path):
    torch.save(nn.Linear(2, 2).state_dict(), tmp_path / "weights.pt")
    with pytest.raises(RelayError) as caught:
        from_pytorch(tmp_path / "weights.pt")
    golden("pickle.txt", caught.value)


def rewritten(path: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """A copy of an archive whose parts are changed."""
    out = path.with_name("changed.pt2")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return out


def test_operators_that_pytorch_cannot_run_on_their_inputs_are_told(tmp_path: Path):
    class Total(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.sum(1)

    torch.export.save(torch.export.export(Total(), (torch.ones(2, 3),)), tmp_path / "model.pt2")

    def beyond(_: str, data: bytes) -> bytes:
        return re.sub(rb'("as_ints": \[)1(\])', rb"\g<1>7\2", data)

    with pytest.raises(RelayError, match="cannot take the exported program apart") as caught:
        from_pytorch(rewritten(tmp_path / "model.pt2", beyond))
    assert "Dimension out of range" in str(caught.value)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    program = torch.export.export(nn.Linear(3, 2), (torch.randn(4, 3),), dynamic_shapes=({0: Dim.AUTO},))
    torch.export.save(program, tmp_path / "model.pt2")
    return tmp_path / "model.pt2"


def test_example_inputs_in_a_file_are_not_read(saved: Path):
    changed = rewritten(saved, lambda name, data: b"no pickle" if "sample_inputs" in name else data)
    assert from_pytorch(changed)[0].astext() == from_pytorch(saved)[0].astext()


def test_pickled_weights_are_refused(saved: Path):
    def pickled(name: str, data: bytes) -> bytes:
        return data.replace(b'"use_pickle": false', b'"use_pickle": true') if "weights_config" in name else data

    with pytest.raises(RelayError, match="pickled-model"):
        from_pytorch(rewritten(saved, pickled))


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("expr_str", "__import__('os').system('true')"),
        ("expr_str", "Pow(Integer(9), Integer(999999999))"),
        ("expr_str", "(" * 5000),
        ("target", "torch.hub.load"),
        ("in_spec", '[1, {"type": "collections.defaultdict", "context": "os.system", "children_spec": []}]'),
    ],
)
def test_what_pytorch_would_run_of_a_file_is_refused(saved: Path, key: str, text: str):
    def hostile(name: str, data: bytes) -> bytes:
        return json.dumps(replaced(json.loads(data), key, text)).encode() if name.endswith("model.json") else data

    with pytest.raises(RelayError, match="not-a-pytorch-model"):
        from_pytorch(rewritten(saved, hostile))


def replaced(tree: Any, key: str, text: str) -> Any:
    """JSON in which each entry of a name has another text."""
    if isinstance(tree, dict):
        return {k: text if k == key and isinstance(v, str) else replaced(v, key, text) for k, v in tree.items()}
    return [replaced(each, key, text) for each in tree] if isinstance(tree, list) else tree


@pytest.mark.parametrize("size", [0, 10, 1000])
def test_a_damaged_file_is_a_clear_error(saved: Path, size: int):
    saved.write_bytes(saved.read_bytes()[:size])
    with pytest.raises(RelayError, match="not-a-pytorch-model"):
        from_pytorch(saved)


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    run_page("from_pytorch.md", tmp_path)


def test_amounts_of_a_pad_may_be_computed_from_extents():
    class Whole(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, ...]:
            rows = x.shape[0]
            images = x[None]
            around = [nn.functional.pad(images, (0, 0, 0, rows // 2), mode) for mode in ("replicate", "circular")]
            return (
                nn.functional.pad(x, (1, 0, 0, -rows % 4), value=2.5),
                nn.functional.pad(x, (0, 0, 0, 9 - rows)),
                *around,
            )

    network = Whole()
    module, _ = from_pytorch(network, (torch.randn(6, 3),), dynamic_shapes=({0: Dim.AUTO},))
    run = relay.build(module)
    for rows in (6, 8, 11):
        x = torch.randn(rows, 3)
        for mine, theirs in zip(run(x.numpy()), network(x), strict=True):
            np.testing.assert_array_equal(mine, theirs)
