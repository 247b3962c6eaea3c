"""Programs into diagrams: a function a diagram, a scope a block.

Variables of lets are no nodes: their values are. Constants stand as lines in the nodes that take them. A value that an
inner block takes from outside is a reference there, and an edge to the node that has the block.
"""

from __future__ import annotations

from dataclasses import field

from relay.base.frozen import mutable
from relay.base.names.fresh_names import FreshNames
from relay.ir.expr import (
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    RefRead,
    RefWrite,
    Var,
    pattern_vars,
)
from relay.ir.module import IRModule
from relay.ir.sharing import Scope, scopes, value_node
from relay.ir.types import Type
from relay.ir.variables import free_vars
from relay.report.dataflow.diagram import Block, Edge, FunctionDiagram, Node, NodeKind
from relay.report.dataflow.forms import form, is_primitive, leaf_text, pattern_text, type_text

_TEXTS = (Constant, GlobalVar, Constructor, Op)
"""Leaves that stand as text where they are used."""


def read_diagrams(program: IRModule | Expr) -> tuple[FunctionDiagram, ...]:
    """A diagram for each function of a module, or the one of an expression."""
    if isinstance(program, IRModule):
        return tuple(_Reader(function).diagram(f"@{name.name_hint}") for name, function in program.functions.items())
    return (_Reader(program).diagram("fn " if isinstance(program, Function) else "expression"),)


@mutable
class _OpenBlock:
    """A block that is being filled. `positions` are those of values that have a node here; those `taken` come from
    outside, in the order in which they are met."""

    scope: Scope
    nodes: list[Node] = field(default_factory=list)
    edges: dict[tuple[int, int], Edge] = field(default_factory=dict)
    positions: dict[Expr, int] = field(default_factory=dict)
    last_access: int | None = None  # of a ref: what is read depends on what was written before
    taken: dict[Expr, None] = field(default_factory=dict)

    def add(self, node: Node, value: Expr) -> int:
        self.positions[value] = len(self.nodes)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def connect(self, source: int, target: int, text: str, inside: bool) -> None:
        """An edge; a second one between two nodes is one with the first."""
        known = self.edges.get((source, target))
        if known is not None:
            text = "\n".join(filter(None, (known.text, text)))
            inside = inside and known.inside
        self.edges[source, target] = Edge(source, target, text, inside)


class _Reader:
    """Reads one definition: names and scopes are its own."""

    def __init__(self, root: Expr) -> None:
        self.root = root
        self.found = scopes(root)
        self.fresh = FreshNames(first=1)
        self.names: dict[Expr, str] = {}
        self.values: dict[Var, Expr] = {}  # what the variables of lets stand for
        self.hints: dict[Expr, str] = {}  # the names of those variables
        self.home: dict[Expr, Scope] = {}  # where a value is made
        self.hidden: set[Scope] = set()  # inside primitive functions
        self.named: set[Expr] = set()  # what has references
        self.blocks: dict[Scope, Block] = {}
        self.taken: dict[Scope, tuple[Expr, ...]] = {}

    def diagram(self, name: str) -> FunctionDiagram:
        order = self.found.outermost_first()
        if isinstance(self.root, Function):
            del order[0]  # it only makes the function
        self.home.update(dict.fromkeys(free_vars(self.root), order[0]))
        for scope in order:
            self._bind(scope)
        for scope in reversed(order):
            if scope not in self.hidden:
                self._read(scope)
        if not isinstance(self.root, Function):
            return FunctionDiagram(name, self.blocks[order[0]])
        params = ", ".join(self._typed(each) for each in self.root.params)
        result = type_text(self.root.ret_type or self.root.body.checked_type)
        return FunctionDiagram(f"{name}({params})" + (f" -> {result}" if result else ""), self.blocks[order[0]])

    def _typed(self, var: Var) -> str:
        type_ = type_text(_type(var))
        return self._name(var) + (f": {type_}" if type_ else "")

    # ------------------------------------------------------------------------------------------------- names, places

    def _bind(self, scope: Scope) -> None:
        """Where the values of a scope are made, and what its variables stand for."""
        if scope.parent in self.hidden or (is_primitive(scope.owner) and scope.owner is not self.root):
            self.hidden.add(scope)
            return
        for var in _variables(scope):
            self.home[var] = scope
        for node in scope.order:
            self.home[node] = scope
            if isinstance(node, Let):
                value = self.values[node.var] = self._resolved(node.value)
                self.hints.setdefault(value, node.var.name_hint)

    def _resolved(self, expr: Expr) -> Expr:
        """The node that makes the value of an expression, or the leaf that it is."""
        end = value_node(expr)
        return self.values.get(end, end) if isinstance(end, Var) else end

    def _name(self, value: Expr) -> str:
        """What references call a value: the name of its variable, or a number."""
        known = self.names.get(value)
        if known is None:
            hint = value.name_hint if isinstance(value, Var) else self.hints.get(value, "")
            known = self.names[value] = "%" + (self.fresh.take(hint) if hint else self.fresh.take_numbered(""))
        return known

    # -------------------------------------------------------------------------------------------------------- blocks

    def _read(self, scope: Scope) -> None:
        """The block of a scope whose inner scopes have theirs."""
        block = _OpenBlock(scope)
        for var in _variables(scope):
            block.add(self._variable(var, NodeKind.PARAMETER), var)
        for node in scope.order:
            if not isinstance(node, Let) and not is_primitive(node):
                self._add(block, node)
        self._add_result(block, self._resolved(scope.result))
        shown = (node.named() if value in self.named else node for value, node in self._with_values(block))
        self.blocks[scope] = Block(self._heading(scope), tuple(shown), tuple(block.edges.values()))
        self.taken[scope] = tuple(block.taken)

    @staticmethod
    def _with_values(block: _OpenBlock) -> list[tuple[Expr | None, Node]]:
        """The nodes, with the values that are made here."""
        values = {position: value for value, position in block.positions.items() if value not in block.taken}
        return [(values.get(position), node) for position, node in enumerate(block.nodes)]

    def _add(self, block: _OpenBlock, node: Expr) -> None:
        inner = [scope for scope in self.found.inner(node) if scope not in self.hidden]
        said = form(node)
        lines = list(said.lines)
        uses: list[tuple[int, str, bool]] = []
        for operand in said.operands:
            value = self._resolved(operand.value)
            if isinstance(value, _TEXTS) or is_primitive(value):
                lines.append(f"{operand.role or 'with'} = {leaf_text(value)}")
            else:
                uses.append((self._position(block, value), _flow(operand.role, value), False))
        for scope in inner:
            for value in self.taken[scope]:
                if value is not node:  # a function may call itself
                    uses.append((self._position(block, value), _flow(self._name(value), value), True))
        type_ = type_text(node.checked_type)
        blocks = tuple(self.blocks[scope] for scope in inner)
        drawn = Node(said.kind, said.title, self._name(node), type_, tuple(lines), blocks)
        position = block.add(drawn, node)
        for source, text, inside in uses:
            block.connect(source, position, text, inside)
        if isinstance(node, RefRead | RefWrite):
            if block.last_access is not None:
                block.connect(block.last_access, position, "then", True)
            block.last_access = position

    def _add_result(self, block: _OpenBlock, result: Expr) -> None:
        """What a block is worth, at its end."""
        if isinstance(result, _TEXTS) or is_primitive(result):
            block.nodes.append(Node(NodeKind.RESULT, "result", lines=(leaf_text(result),)))
            return
        source = self._position(block, result)
        block.nodes.append(Node(NodeKind.RESULT, "result"))
        block.connect(source, len(block.nodes) - 1, _flow("", result), False)

    def _position(self, block: _OpenBlock, value: Expr) -> int:
        """The node of a value in a block: its own, or a reference to where it is made."""
        known = block.positions.get(value)
        if known is not None:
            return known
        is_free = self.home[value] is block.scope  # a variable that nothing binds, or it would have a node
        if not is_free:
            block.taken[value] = None
            self.named.add(value)
        if isinstance(value, Var):
            return block.add(self._variable(value, NodeKind.PARAMETER if is_free else NodeKind.REFERENCE), value)
        return block.add(Node(NodeKind.REFERENCE, self._name(value), type_text=type_text(value.checked_type)), value)

    def _variable(self, var: Var, kind: NodeKind) -> Node:
        return Node(kind, self._name(var), self._name(var), type_text(_type(var)))

    def _heading(self, scope: Scope) -> str:
        match scope.owner:
            case If():
                return "then" if scope.position == 1 else "else"
            case Match(_, clauses):
                return pattern_text(clauses[scope.position - 1].lhs, self._name)
            case _:
                return ""


def _variables(scope: Scope) -> tuple[Var, ...]:
    """What a scope binds where it begins."""
    match scope.owner:
        case Function(params):
            return params
        case Match(_, clauses):
            return pattern_vars(clauses[scope.position - 1].lhs)
        case _:
            return ()


def _type(value: Expr) -> Type | None:
    """The type of a value, where anything tells it."""
    return value.checked_type or (value.type_annotation if isinstance(value, Var) else None)


def _flow(role: str, value: Expr) -> str:
    """What an edge says: what a value is taken as, and its type."""
    type_ = type_text(_type(value))
    return f"{role}: {type_}" if role and type_ else role or type_
