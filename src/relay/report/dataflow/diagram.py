"""What a drawing of a program shows, before it has places: blocks of nodes and edges, and blocks inside of nodes."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from relay.base.frozen import frozen
from relay.base.graph import post_order


class NodeKind(StrEnum):
    """What a node stands for; the value is its class in the style sheet."""

    PARAMETER = "parameter"
    REFERENCE = "reference"  # a value that is made elsewhere, by its name
    OPERATOR = "operator"
    FUSED = "fused"  # a primitive function: several operators that are one kernel
    CALL = "call"  # of a function of the program
    DATA = "data"  # a tuple, a part of one, a constructor
    REF = "ref"  # what reads or writes memory
    CHOICE = "choice"  # an if or a match
    CLOSURE = "closure"
    RESULT = "result"


@frozen(eq=False, repr=False)
class Node:
    """A value. `lines` stand under the title, `type_text` below them, `blocks` at the bottom: the branches of a choice,
    the body of a closure. `name` is what references call it; `is_named`: some do, so the drawing shows it."""

    kind: NodeKind
    title: str
    name: str = ""
    type_text: str = ""
    lines: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    is_named: bool = False

    def named(self) -> Node:
        """The node, which shows its name."""
        return self if self.is_named else replace(self, is_named=True)


@frozen
class Edge:
    """`source` and `target` are positions in the block's nodes, and the first is smaller. `text`: what flows, and as
    what. `inside`: it is used by a block of the target."""

    source: int
    target: int
    text: str = ""
    inside: bool = False


@frozen(eq=False, repr=False)
class Block:
    """What is evaluated together: the body of a function, a branch. Nodes stand in the order of evaluation."""

    heading: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@frozen(eq=False, repr=False)
class FunctionDiagram:
    """A function of a program: its name with its signature, and its body."""

    signature: str
    body: Block

    @property
    def node_count(self) -> int:
        """How many nodes it has, those in blocks of nodes too."""
        return sum(len(block.nodes) for block in innermost_first(self.body))


def innermost_first(block: Block) -> list[Block]:
    """A block and those inside of it, each after its own."""
    return post_order([block], _inside)


def _inside(block: Block) -> tuple[Block, ...]:
    return tuple(inner for node in block.nodes for inner in node.blocks)
