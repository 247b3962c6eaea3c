"""Drawings of programs: what they show, where it stands, and that any program has one."""

from __future__ import annotations

import itertools
import random
import xml.etree.ElementTree as ElementTree

import pytest

import relay
from relay.report.dataflow.diagram import Block, FunctionDiagram, NodeKind, innermost_first
from relay.report.dataflow.layering import crossings, layered, neighbours, ranks
from relay.report.dataflow.layout import Size, arranged, nearest_places
from relay.report.dataflow.page import html_text, svg_text
from relay.report.dataflow.reading import read_diagrams
from relay.report.dataflow.references import LONGEST_EDGE, with_references
from tests.report.test_report import checked

SVG = "{http://www.w3.org/2000/svg}"

PROGRAM = """#[version = "0.0.5"]
type List[A] {
  Cons(A, List[A]),
  Nil,
}

def @sum(%xs: List[float32], %scale: float32) -> float32 {
  match (%xs) {
    Cons(%x, %rest) => { add(multiply(%x, %scale), @sum(%rest, %scale)) },
    Nil => { 0f },
  }
}

def @main(%x: Tensor[(2, 3), float32], %flag: bool) {
  %0 = fn (%p: Tensor[(2, 3), float32], Primitive=1) -> Tensor[(2, 3), float32] { nn.relu(exp(%p)) };
  let %y = %0(%x);
  let %twice = fn (%v: Tensor[(2, 3), float32]) { add(%v, %y) };
  let %cell = ref(%y);
  let %done = ref_write(%cell, %twice(%y));
  if (%flag) { split(ref_read(%cell), indices_or_sections=1, axis=1).0 } else { multiply(%x, 2f) }
}
"""


def shown(block: Block) -> list[str]:
    """The nodes of a block with what they take."""
    lines: list[str] = []
    for number, node in enumerate(block.nodes):
        taken = [block.nodes[edge.source].title for edge in block.edges if edge.target == number]
        lines.append(" ".join([node.title, *(f"[{line}]" for line in node.lines), *(f"<- {each}" for each in taken)]))
    return lines


def diagram_of(name: str, text: str = PROGRAM) -> FunctionDiagram:
    (found,) = (each for each in read_diagrams(relay.parse(text)) if each.signature.startswith(f"@{name}("))
    return found


def test_a_function_is_its_values_and_what_they_take():
    main = diagram_of("main")
    assert main.signature == "@main(%x: float32[2, 3], %flag: bool) -> float32[2, 3]"
    assert shown(main.body) == [
        "%x",
        "%flag",
        "exp [+ nn.relu] <- %x",  # a fused function is one node
        "fn <- exp",
        "ref <- exp",
        "call <- fn <- exp",
        "ref_write <- ref <- call",
        "if <- %flag <- ref <- %x",  # what its branches take is an edge to it
        "result <- if",
    ]
    by_title = {node.title: node for node in main.body.nodes}
    assert (by_title["exp"].name, by_title["exp"].is_named) == ("%y", True)  # the closure refers to it
    assert by_title["call"].type_text == "float32[2, 3]"


def test_blocks_show_branches_closures_and_clauses():
    main = diagram_of("main").body
    choice, closure = (next(node for node in main.nodes if node.title == title) for title in ("if", "fn"))
    assert [block.heading for block in choice.blocks] == ["then", "else"]
    assert shown(choice.blocks[0]) == [
        "%cell", "ref_read <- %cell", "split [indices_or_sections = 1] [axis = 1] <- ref_read", ".0 <- split",
        "result <- .0",
    ]  # fmt: skip
    assert shown(choice.blocks[1]) == ["%x", "multiply [rhs = 2.0] <- %x", "result <- multiply"]
    assert shown(closure.blocks[0]) == ["%v", "%y", "add <- %v <- %y", "result <- add"]
    assert [node.kind for node in closure.blocks[0].nodes[:2]] == [NodeKind.PARAMETER, NodeKind.REFERENCE]

    (match,) = (node for node in diagram_of("sum").body.nodes if node.title == "match")
    assert [block.heading for block in match.blocks] == ["Cons(%x, %rest)", "Nil"]
    assert shown(match.blocks[0])[2:] == [
        "%scale", "multiply <- %x <- %scale", "@sum <- %rest <- %scale", "add <- multiply <- @sum", "result <- add",
    ]  # fmt: skip
    assert shown(match.blocks[1]) == ["result [0.0]"]


def test_a_function_that_calls_itself_takes_nothing_from_itself():
    text = """#[version = "0.0.5"]
    def @main(%n: int32) {
      let %loop = fn (%i: int32) -> int32 { if (less(%i, 1)) { %i } else { %loop(subtract(%i, 1)) } };
      %loop(%n)
    }"""
    main = diagram_of("main", text).body
    assert shown(main) == ["%n", "fn", "call <- fn <- %n", "result <- call"]
    assert "%loop" in [node.title for block in innermost_first(main)[:-1] for node in block.nodes]


def test_what_a_ref_holds_depends_on_what_came_before():
    text = """#[version = "0.0.5"]
    def @main(%x: float32) {
      let %cell = ref(%x);
      let %u = ref_write(%cell, 1f);
      ref_read(%cell)
    }"""
    main = diagram_of("main", text).body
    assert "ref_read <- ref <- ref_write" in shown(main)


def test_edges_say_what_flows_and_as_what():
    dense = relay.nn.dense(relay.var("data", shape=("n", 4)), relay.var("w", shape=(3, 4)))
    (diagram,) = read_diagrams(dense)
    assert [edge.text for edge in diagram.body.edges] == [
        "data: float32[n, 4]", "weight: float32[3, 4]", "float32[n, 3]",
    ]  # fmt: skip


def random_edges(seed: int, count: int) -> list[tuple[int, int]]:
    chance = random.Random(seed)
    pairs = {(chance.randrange(target), target) for target in range(1, count) for _ in range(chance.randrange(3))}
    return sorted(pairs)


@pytest.mark.parametrize("seed", range(20))
def test_layers_lead_down_and_routes_join_their_ends(seed):
    edges = random_edges(seed, 40)
    rank, layering = ranks(40, edges), layered(40, edges)
    assert all(rank[source] < rank[target] for source, target in edges)
    assert sorted(itertools.chain(*layering.layers)) == list(range(sum(map(len, layering.layers))))
    links = set(layering.links)
    for (source, target), route in layering.routes.items():
        assert set(itertools.pairwise([source, *route, target])) <= links
    level = {vertex: number for number, layer in enumerate(layering.layers) for vertex in layer}
    assert all(level[lower] == level[upper] + 1 for upper, lower in links)


@pytest.mark.parametrize("seed", range(20))
def test_crossings_are_those_of_the_definition(seed):
    layering = layered(30, random_edges(seed, 30))
    place = {vertex: at for layer in layering.layers for at, vertex in enumerate(layer)}
    _, below = neighbours(len(place), layering.links)
    level = {vertex: number for number, layer in enumerate(layering.layers) for vertex in layer}
    crossed = sum(
        level[a] == level[c] and (place[a] - place[c]) * (place[b] - place[d]) < 0
        for (a, b), (c, d) in itertools.combinations(layering.links, 2)
    )
    assert crossings(layering.layers, below) == crossed


def test_a_twist_is_undone():
    """Two chains that a wrong order would cross."""
    layering = layered(6, [(0, 3), (1, 2), (2, 5), (3, 4)])
    _, below = neighbours(6, layering.links)
    assert crossings(layering.layers, below) == 0


@pytest.mark.parametrize("seed", range(20))
def test_nodes_do_not_overlap_and_edges_meet_them(seed):
    chance = random.Random(seed)
    sizes = [Size(chance.randrange(20, 200), chance.randrange(20, 90)) for _ in range(40)]
    edges = random_edges(seed, 40)
    layout = arranged(sizes, edges)
    boxes = [(x, y, x + size.width, y + size.height) for (x, y), size in zip(layout.corners, sizes, strict=True)]
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(boxes, 2):
        assert c < e or g < a or d < f or h < b
    assert all(a >= 0 and c <= layout.size.width + 0.1 and d <= layout.size.height for a, _, c, d in boxes)
    for (source, target), points in layout.paths.items():
        assert points[0] == pytest.approx(((boxes[source][0] + boxes[source][2]) / 2, boxes[source][3]), abs=0.1)
        assert points[-1] == pytest.approx(((boxes[target][0] + boxes[target][2]) / 2, boxes[target][1]), abs=0.1)
        assert len(points) % 2 == 0


@pytest.mark.parametrize("seed", range(20))
def test_places_are_the_nearest_that_keep_their_distances(seed):
    """No small change of one place, or of several neighbours, that keeps the distances is nearer."""
    chance = random.Random(seed)
    wanted = [chance.uniform(0, 30) for _ in range(6)]
    weights = [chance.uniform(1, 4) for _ in range(6)]
    offsets = [0.0, *itertools.accumulate(chance.uniform(1, 9) for _ in range(5))]

    def cost(places: list[float]) -> float:
        return sum(w * (a - b) ** 2 for w, a, b in zip(weights, wanted, places, strict=True))

    def keeps(places: list[float]) -> bool:
        pairs = itertools.pairwise(zip(places, offsets, strict=True))
        return all(b - a >= f - e - 1e-9 for (a, e), (b, f) in pairs)

    found = nearest_places(wanted, weights, offsets)
    assert keeps(found)
    for first, last in itertools.combinations(range(7), 2):
        for step in (-1e-3, 1e-3):
            moved = [place + step * (first <= at < last) for at, place in enumerate(found)]
            assert not keeps(moved) or cost(moved) >= cost(found)


def chain_with_a_far_use(length: int) -> relay.Function:
    x = relay.var("x", shape=(2,))
    body = first = relay.exp(x)
    for _ in range(length):
        body = relay.tanh(body)
    return relay.Function([x], relay.add(body, first))


def test_a_far_use_is_a_reference():
    (near,), (far,) = (read_diagrams(chain_with_a_far_use(n)) for n in (LONGEST_EDGE - 1, LONGEST_EDGE))
    assert with_references(near.body) is near.body
    body = with_references(far.body)
    (reference,) = (node for node in body.nodes if node.kind is NodeKind.REFERENCE)
    assert [node.title for node in body.nodes if node.is_named] == ["exp"]
    assert [node.name for node in body.nodes if node.is_named] == [reference.title]
    assert len(body.edges) == len(far.body.edges)
    assert f"{reference.title} = exp" in svg_text(chain_with_a_far_use(LONGEST_EDGE))


def elements(text: str, kind: str) -> list[ElementTree.Element]:
    """The boxes of a kind of node in a drawing, which must be well-formed."""
    return [each for each in ElementTree.fromstring(text).iter(f"{SVG}g") if each.get("class") == kind]


def test_the_drawing_has_every_node_edge_and_signature():
    text = svg_text(relay.parse(PROGRAM))
    root = ElementTree.fromstring(text)
    words = {words for each in root.iter(f"{SVG}text") for words in each.itertext()}
    signature = "@sum(%xs: List[float32], %scale: float32) -> float32"
    assert {signature, "Cons(%x, %rest)", "then", "%y = exp"} <= words
    blocks = [block for each in read_diagrams(relay.parse(PROGRAM)) for block in innermost_first(each.body)]
    assert len(list(root.iter(f"{SVG}g"))) == sum(len(block.nodes) for block in blocks)
    tips = [each for each in root.iter(f"{SVG}path") if each.get("class") == "tip"]
    assert len(tips) == sum(len(block.edges) for block in blocks)
    assert len(elements(text, "fused")) == 1


def test_names_are_text_and_nothing_else():
    x = relay.Var('a<b>&"\x00\ud800', relay.TensorType((2,)))
    for text in (svg_text(relay.Function([x], relay.exp(x))), html_text(relay.Function([x], relay.exp(x)), "m<1>")):
        assert "a&lt;b&gt;&amp;" in text
        assert "a<b" not in text
        text.encode()
    ElementTree.fromstring(svg_text(relay.exp(x)))


@pytest.mark.parametrize("width", [1, 3])
def test_a_thousand_nodes(width):
    """Each takes `width` values from close above, and the last takes all of them."""
    values: list[relay.Expr] = [relay.var("x", shape=(2,))]
    for number in range(1000):
        before = values[-1 - number % width % len(values)]
        values.append(relay.add(before, values[-1]) if number % 2 else relay.exp(before))
    text = svg_text(relay.Function(values[:1], relay.Tuple(values[1:])))
    assert len(elements(text, "operator")) == 1000
    assert len(text) < 2_000_000


def test_deep_programs_have_drawings_too():
    body: relay.Expr = relay.var("x", shape=())
    flag = relay.var("flag", shape=(), dtype="bool")
    for _ in range(400):
        body = relay.If(flag, body, relay.exp(body))
    assert len(elements(svg_text(body), "choice")) == 400


def test_the_page_folds_functions():
    text = html_text(relay.parse(PROGRAM), "model<1>")
    page = checked(text)
    assert page.seen.count("details") == page.seen.count("svg") == 2
    assert text.count("<details open") == 2
    assert "model&lt;1&gt;" in text


def test_long_pages_begin_folded():
    body = relay.var("x", shape=(2,))
    for _ in range(2000):
        body = relay.exp(body)
    module = relay.IRModule({relay.GlobalVar(name): relay.Function([], body) for name in ("f", "g")})
    text = html_text(module)
    assert (text.count("<details"), text.count("<details open")) == (2, 1)


def test_draw_writes_what_the_suffix_says(tmp_path):
    module = relay.parse(PROGRAM)
    relay.draw(module, tmp_path / "model.svg")
    relay.draw(module["main"], str(tmp_path / "model.html"))
    assert (tmp_path / "model.svg").read_text() == svg_text(module)
    assert "<h1>model</h1>" in (tmp_path / "model.html").read_text()


@relay.function
def twice(x: relay.Tensor[(2,)]):
    return x + x


def test_draw_says_what_it_draws(tmp_path):
    module = relay.parse(PROGRAM)
    with pytest.raises(relay.RelayError, match=r"unknown-drawing[\s\S]*expected: .svg or .html[\s\S]*model.svg"):
        relay.draw(module, tmp_path / "model.png")
    with pytest.raises(relay.RelayError, match=r"a module or an expression[\s\S]*'model.onnx'"):
        relay.draw("model.onnx", tmp_path / "model.svg")
    with pytest.raises(relay.RelayError, match=r"help: read the model first"):
        relay.draw("model.onnx", tmp_path / "model.svg")
    with pytest.raises(relay.RelayError, match=r"help: give the module alone"):
        relay.draw((module, {}), tmp_path / "model.svg")
    with pytest.raises(relay.RelayError, match=r"help: give its program: .to_relay\(\)"):
        relay.draw(twice, tmp_path / "model.svg")
    with pytest.raises(relay.RelayError, match="cannot-write"):
        relay.draw(module, tmp_path / "nowhere" / "model.svg")
