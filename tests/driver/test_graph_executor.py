"""`relay.create_executor("graph")`: kernels one by one, each of which can be looked at and timed."""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import relay
from relay.runtime.graph.graph import Graph
from tests.messages import check_message

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "graph"

TWO_LAYERS = """
def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(3, 4), float32]) {
  let %hidden = nn.softmax(nn.relu(nn.dense(%x, %w)));
  (reshape(%hidden, newshape=[6]), (%x, nn.softmax(%hidden)))
}
"""


def program(text: str) -> relay.IRModule:
    return relay.parse(f'#[version = "0.0.5"]\n{text.strip()}\n', "program.relay")


def graph(module: relay.IRModule, **options: object) -> relay.GraphExecutor:
    made = relay.create_executor("graph", module, **options).evaluate()
    assert isinstance(made, relay.GraphExecutor)
    return made


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


W = random(3, 4, seed=1)


@pytest.fixture(scope="module")
def two_layers() -> relay.GraphExecutor:
    return graph(program(TWO_LAYERS), params={"w": W}, opt_level=1)  # layouts would depend on the machine


def leaves(value: object) -> list[np.ndarray]:
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [value]


def assert_same(found: object, expected: object) -> None:
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


PROGRAMS = {
    "two layers": TWO_LAYERS,
    "views of inputs and constants": """
def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(3, 4), float32]) {
  (reshape(%x, newshape=[8]), %w, 2f, exp(reshape(%x, newshape=[4, 2])), %x)
}""",
    "one value twice": """
def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(3, 4), float32]) { let %y = nn.dense(%x, %w); (%y, (%y, %y)) }""",
    "kernels of several results": """
def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(3, 4), float32]) {
  let %parts = split(%x, indices_or_sections=2, axis=1);
  let %y = concatenate((nn.softmax(%parts.1), nn.softmax(%parts.0)), axis=1);
  nn.dense(%y, %w)
}""",
    "large functions in two places": """
def @block(%x: Tensor[(2, 4), float32], %w: Tensor[(3, 4), float32]) { nn.softmax(nn.dense(%x, %w)) }
def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(3, 4), float32]) { @block(%x, %w) + @block(exp(%x), %w) }""",
    "functions of open extents": """
def @layer(%x: Tensor[(n, 4), float32], %w: Tensor[(m, 4), float32]) { nn.softmax(nn.dense(%x, %w)) }
def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(3, 4), float32]) { (@layer(%x, %w), @layer(%w, %x)) }""",
    "tuples of tensors": """
def @main(%x: (Tensor[(2, 4), float32], Tensor[(3, 4), float32])) { (nn.dense(%x.0, %x.1), %x.1) }""",
    "no elements": """
def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(3, 4), float32]) {
  let %none = strided_slice(nn.softmax(%x), begin=[0, 0], end=[0, 4]);
  (nn.softmax(%none), nn.dense(nn.softmax(%x), %w))
}""",
}


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_executors_agree(name, level):
    module = program(PROGRAMS[name])
    given = (random(2, 4), W)
    made = graph(module, opt_level=level)
    arguments = (given,) if "tuples" in name else given
    expected = relay.create_executor("interpreter", module).evaluate()(*arguments)
    assert_same(made(*arguments), expected)
    assert_same(relay.create_executor("aot", module, opt_level=level).evaluate()(*arguments), expected)


NETWORKS = {
    "resnet": lambda: relay.testing.resnet.get_workload(num_layers=8, image_shape=(3, 32, 32), num_classes=10),
    "mlp": lambda: relay.testing.mlp.get_workload(batch_size=2),
    "mobilenet": lambda: relay.testing.mobilenet.get_workload(num_classes=10, image_shape=(3, 32, 32)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_agree_with_one_native_call(name):
    module, params = NETWORKS[name]()
    made = graph(module, params=params, opt_level=3)
    executable = relay.build(module, params=params, opt_level=3)
    (spec,) = made.entry.inputs
    x = random(*spec.shape)
    np.testing.assert_array_equal(made(x), executable(x))
    values = made.debug_run()
    assert len(values) == sum(node.kernel.startswith("fused") for node in made.graph.nodes)
    assert_same(made.get_output(0), executable(x))


def test_the_document(two_layers):
    text = two_layers.get_graph_json()
    path = GOLDEN / "two_layers.json"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
    assert graph(program(TWO_LAYERS), params={"w": W}, opt_level=1).get_graph_json() == text


def test_the_document_is_what_readers_of_the_format_expect():
    module, params = NETWORKS["resnet"]()
    document = json.loads(graph(module, params=params).get_graph_json())
    nodes, attributes = document["nodes"], document["attrs"]
    assert list(document) == ["nodes", "arg_nodes", "heads", "attrs", "node_row_ptr", "metadata"]
    assert document["arg_nodes"] == [number for number, node in enumerate(nodes) if node["op"] == "null"]
    assert {node["op"] for node in nodes} == {"null", "tvm_op"}
    counts = [int(node["attrs"]["num_outputs"]) if node["op"] == "tvm_op" else 1 for node in nodes]
    assert document["node_row_ptr"] == [sum(counts[:number]) for number in range(len(nodes) + 1)]
    assert {name: kind for name, (kind, _) in attributes.items()} == {
        "dltype": "list_str", "shape": "list_shape", "storage_id": "list_int", "storage_offset": "list_int",
    }  # fmt: skip
    assert {len(values) for _, values in attributes.values()} == {sum(counts)}
    for number, node in enumerate(nodes):
        assert all(0 <= source < number and version == 0 for source, _, version in node["inputs"])
        if node["op"] == "tvm_op":
            assert all(isinstance(value, str) for value in node["attrs"].values())
            assert int(node["attrs"]["num_inputs"]) == len(node["inputs"])
    names = [node["name"] for node in nodes]
    assert len(set(names)) == len(names)
    assert any(name.startswith("fused_nn_conv2d") and "nn_relu" in name for name in names)
    assert names[0] == "data"


def test_storage_ids_alone_are_enough():
    """Readers that do not know our offsets and nesting, and make room for each storage_id, compute the same."""
    module, params = NETWORKS["resnet"]()
    made = graph(module, params=params)
    document = json.loads(made.get_graph_json())
    del document["attrs"]["storage_offset"], document["metadata"]
    plain = Graph.from_json(json.dumps(document))
    x = random(1, 3, 32, 32)
    np.testing.assert_array_equal(relay.GraphExecutor(plain, made.get_lib(), made.get_params())(x), made(x))
    storages = {tensor.storage for node in plain.nodes if not node.is_argument for tensor in node.outputs}
    assert len(storages) <= sum(not node.is_argument for node in plain.nodes) / 2


def test_inputs_are_set_by_name_and_by_number(two_layers):
    x = random(2, 4, seed=2)
    expected = two_layers(x)
    for setting in (
        lambda: two_layers.set_input("x", x),
        lambda: two_layers.set_input(0, x),
        lambda: two_layers.set_input(x=x),
    ):
        two_layers.set_input("x", np.zeros_like(x))
        setting()
        two_layers.run()
        assert_same(two_layers.get_output(2), leaves(expected)[2])
    np.testing.assert_array_equal(two_layers.get_input("x"), x)
    np.testing.assert_array_equal(two_layers.get_input(1), two_layers.get_input("p0"))
    assert (two_layers.get_num_inputs(), two_layers.get_num_outputs()) == (2, 3)
    two_layers.run(x=x + 1)
    np.testing.assert_array_equal(two_layers.get_input("x"), x + 1)


def test_inputs_may_have_the_names_of_parameters_of_methods():
    names = ("key", "value", "self", "runs", "p0")
    params = [relay.var(name, shape=(2,)) for name in names]
    total = params[0]
    for each in params[1:]:
        total = total + each
    made = graph(relay.IRModule.from_expr(relay.Function(params, total + relay.const(np.ones(2, np.float32)))))
    ones = {name: np.ones(2, np.float32) for name in names}
    np.testing.assert_array_equal(made(**ones), [6, 6])
    made.set_input(**ones)
    made.load_params(relay.save_param_dict({"value": np.full(2, 5, np.float32)}))
    made.run(key=np.zeros(2, np.float32))
    np.testing.assert_array_equal(made.get_output(0), [9, 9])
    assert list(made.get_params()) == ["p0_1"]


def test_results_stay_when_inputs_change(two_layers):
    x = random(2, 4)
    two_layers.run(x=x)
    kept, same = two_layers.get_output(0), two_layers.get_output(1)
    copies = kept.copy(), same.copy()
    two_layers.run(x=x * 3)
    assert_same((kept, same), copies)


def test_the_value_of_every_operator(two_layers):
    x = random(2, 4)
    hidden = np.exp(np.maximum(x @ W.T, 0))
    hidden /= hidden.sum(axis=1, keepdims=True)
    values = two_layers.debug_run(x=x)
    first, softmax = list(values)[-2:]
    assert (first, softmax) == ("fused_nn_softmax", "fused_nn_softmax_1")
    assert_same(values[first], hidden.reshape(values[first].shape))
    assert_same(two_layers.debug_get_output(first), values[first])
    assert_same(two_layers.debug_get_output("x"), x)
    number = [node.name for node in two_layers.graph.nodes].index(softmax)
    assert_same(two_layers.debug_get_output(number), values[softmax])
    assert_same(two_layers.debug_get_output("reshape"), hidden.reshape(6))


def test_values_are_seen_before_they_are_written_over():
    """In a chain of kernels that share two places, each value is still its own."""
    text = "def @main(%x: Tensor[(2, 3), float32]) {\n"
    for number in range(6):
        text += f"  let %v{number} = nn.softmax({f'%v{number - 1}' if number else '%x'});\n"
    made = graph(program(text + "  %v5\n}"))
    x = random(2, 3)
    values = made.debug_run(x=x)
    assert len(values) == 6
    value = x
    for name, found in values.items():
        value = np.exp(value) / np.exp(value).sum(axis=1, keepdims=True)
        assert_same(found, value)
        assert_same(made.debug_get_output(name), value)
    assert {kernel.name for kernel in made.profile(1).kernels} == set(values)  # one kernel, and a row for each call
    places = {tensor.storage for node in made.graph.nodes[1:-1] for tensor in node.outputs}
    assert len(places) <= 2


def test_a_kernel_of_several_results_has_several_values():
    made = graph(program("def @main(%x: Tensor[(2, 4), float32]) { split(%x, indices_or_sections=2, axis=1) }"))
    x = random(2, 4)
    assert_same(made.debug_run(x=x)["fused_split"], (x[:, :2], x[:, 2:]))


def test_times(two_layers):
    """The profile of a program, of which a node is a kernel: the same table, JSON and arena."""
    profile = two_layers.profile(5, x=random(2, 4))
    assert {each.name for each in profile.kernels} == set(two_layers.debug_run())
    for each in profile.kernels:
        assert (each.calls, len(each.seconds)) == (1, 5)
        assert min(each.seconds) > 0
        assert each.bytes_touched
    inside = sum(each.seconds[0] for each in profile.kernels)
    assert inside + profile.control_seconds[0] == pytest.approx(profile.seconds[0])
    assert [span.kind for span in profile.spans].count("kernel") == len(profile.kernels)
    assert [each["kernel"] for each in profile.to_json()["kernels"]] == [each.name for each in profile.by_time]
    assert profile.arena.planned_bytes >= profile.arena.lower_bound_bytes > 0
    assert str(profile).splitlines()[0].split()[:3] == ["calls", "µs", "share"]


def test_a_library_that_does_not_tell_its_kernels(two_layers):
    lib = two_layers.get_lib()
    older = replace(lib, manifest=replace(lib.manifest, kernels=()))
    made = relay.GraphExecutor(two_layers.graph, older, two_layers.get_params())
    with pytest.raises(relay.RelayError, match="cannot-profile"):
        made.profile(1, x=random(2, 4))


def test_a_folder_holds_everything(tmp_path, two_layers):
    x = random(2, 4)
    expected = two_layers(x)
    two_layers.export(tmp_path / "model")
    assert sorted(file.name for file in (tmp_path / "model").iterdir()) == ["graph.json", "lib.rlx", "params.bin"]
    loaded = relay.GraphExecutor.load(tmp_path / "model")
    for one, other in zip(leaves(loaded(x)), leaves(expected), strict=True):
        np.testing.assert_array_equal(one, other)
    assert loaded.get_graph_json() == two_layers.get_graph_json()
    loaded.export(tmp_path / "again")
    for name in ("graph.json", "lib.rlx", "params.bin"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


def test_files_that_do_not_belong_together(tmp_path, two_layers):
    two_layers.export(tmp_path / "one")
    path = tmp_path / "one" / "graph.json"
    path.write_text(path.read_text().replace("fused_nn_softmax_1", "fused_nn_softmax_2"))
    with pytest.raises(relay.RelayError, match=r"bad-graph.*is not the graph that lib\.rlx was made for"):
        relay.GraphExecutor.load(tmp_path / "one")
    path.unlink()
    with pytest.raises(relay.RelayError, match="cannot-read"):
        relay.GraphExecutor.load(tmp_path / "one")
    two_layers.export(tmp_path / "one")
    params = tmp_path / "one" / "params.bin"
    params.write_bytes(params.read_bytes()[:-1] + b"\1")
    with pytest.raises(relay.RelayError, match=r"bad-params.*is not as it was written with lib\.rlx"):
        relay.GraphExecutor.load(tmp_path / "one")
    (tmp_path / "file").write_text("")
    with pytest.raises(relay.RelayError, match="cannot-write"):
        two_layers.export(tmp_path / "file")


def test_params_may_be_replaced(two_layers):
    made = graph(program(TWO_LAYERS), params={"w": W})
    (name,) = made.get_params()
    other = {name: made.get_params()[name] * 2}
    made.load_params(relay.save_param_dict(other))
    x = random(2, 4)
    expected = relay.create_executor("interpreter", program(TWO_LAYERS), params={"w": W * 2}).evaluate()(x)
    assert_same(made(x), expected)


REFUSED = {
    "if": "def @main(%c: bool, %x: float32) { if (%c) { exp(%x) } else { %x } }",
    "match": "def @main(%x: (float32, float32)) { match (%x) { (%a, %b) => { exp(%a) + %b } } }",
    "data-input": "type Box { Box(float32) }\ndef @main(%x: Box) { match (%x) { Box(%y) => { %y } } }",
    "data": "type Box { Box(float32) }\ndef @main(%x: float32) { Box(exp(%x)) }",
    "reference": "def @main(%x: float32) { let %r = ref(%x); (%r, exp(%x)) }",
    "closure": "def @main(%x: float32) { let %f = fn (%y: float32) { %y + %x }; (%f, %f(exp(%x))) }",
    "function-result": "def @main(%x: float32) { fn (%y: float32) { %y + %x } }",
    "recursion": """
def @power(%n: int32, %x: float32) -> float32 { if (%n == 0) { %x } else { @power(%n - 1, exp(%x)) } }
def @main(%x: float32) { log(@power(3, %x)) }""",
    "generic": "def @same[a](%x: a) -> a { %x }\ndef @main(%x: float32) { @same(%x) + 1f }",
    "symbolic-extent": "def @main(%x: Tensor[(n, 4), float32]) { exp(%x) }",
    "unknown-extent": "def @main(%x: Tensor[(?, 4), float32]) { exp(%x) }",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_graph_cannot_run_is_named(name):
    with pytest.raises(relay.RelayError) as caught:
        graph(program(REFUSED[name]))
    assert caught.value.rule == "not-a-graph"
    check_message("graph", name, caught.value)


def test_what_is_set_wrongly_is_refused(two_layers):
    x = random(2, 4)
    fresh = graph(program(TWO_LAYERS), params={"w": W})
    for name, action in {
        "missing-input": fresh.run,
        "not-run": lambda: fresh.get_output(0),
        "no-such-input": lambda: two_layers.set_input("y", x),
        "no-such-input-number": lambda: two_layers.set_input(2, x),
        "no-such-output": lambda: two_layers.get_output(3),
        "no-such-node": lambda: two_layers.debug_get_output("softmax"),
        "input-shape": lambda: two_layers.set_input("x", x.T.copy()),
        "input-dtype": lambda: two_layers.set_input("x", x.astype(np.float64)),
        "no-runs": lambda: two_layers.profile(0),
        "cannot-pickle": lambda: pickle.dumps(two_layers),
    }.items():
        with pytest.raises(relay.RelayError) as caught:
            action()
        check_message("graph", name, caught.value)


def test_what_an_executor_says_of_itself(two_layers):
    calls = sum(node.kernel.startswith("fused") for node in two_layers.graph.nodes)
    assert repr(two_layers) == (
        f"<relay graph of {calls} kernel calls: (x: float32[2, 4]) -> (float32[6], float32[2, 4], float32[2, 3])>"
    )


def test_a_library_that_lacks_a_kernel(two_layers):
    nodes = [replace(node, kernel=node.kernel and "fused_exp_123") for node in two_layers.graph.nodes]
    with pytest.raises(relay.RelayError, match="cannot-load-objects"):
        relay.GraphExecutor(replace(two_layers.graph, nodes=tuple(nodes)), two_layers.get_lib(), {})


def test_a_program_for_another_machine(tmp_path):
    """It is built, since it may be exported for that machine; it is not run here."""
    made = graph(program(TWO_LAYERS), target="llvm -mtriple=aarch64-unknown-linux-gnu", params={"w": W})
    made.export(tmp_path / "model")
    with pytest.raises(relay.RelayError, match="wrong-machine"):
        made(random(2, 4))


def test_a_main_of_no_kernels():
    made = graph(program("def @main(%x: float32) { (%x, ()) }"))
    x, nothing = made(np.float32(3))
    assert (float(x), nothing) == (3, ())
    assert made.debug_run() == {}
    assert made.profile().kernels == ()


def test_parts_of_a_concatenation_are_values_too() -> None:
    x = relay.var("x", shape=(2, 3, 32))
    parts = [relay.nn.softmax(x), relay.nn.softmax(x, axis=1)]
    executor = graph(relay.IRModule.from_expr(relay.Function([x], relay.concatenate(parts, axis=2))))
    values = executor.debug_run(x=random(2, 3, 32))
    assert list(values) == ["fused_nn_softmax", "fused_nn_softmax_1", "fused_concatenate"]
    first, second, both = values.values()
    np.testing.assert_array_equal(np.concatenate((first, second), axis=2), both)
