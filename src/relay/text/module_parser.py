"""Whole texts: modules and bare expressions."""

from __future__ import annotations

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.base.trampoline import run
from relay.ir.datatype import TypeData
from relay.ir.expr import Constructor, Expr, Function, GlobalVar
from relay.ir.module import IRModule
from relay.ir.operator import OperatorTable
from relay.ir.types import GlobalTypeVar
from relay.text.cursor import Cursor, near_names
from relay.text.forms import function
from relay.text.lexer import Kind, tokenize
from relay.text.parser import ExpressionParser, plain_name

SUPPORTED_VERSION = "0.0.5"


def parse(text: str, operators: OperatorTable, source_name: str = "<text>") -> IRModule:
    """The module that `text` is. Time and memory are linear in its size.

    Raises `RelayError` with line and caret for every mistake (rules `syntax`, `unknown-operator`, `unbound-variable`,
    `duplicate-name`, `unknown-global`, ...).

    >>> module = parse('#[version = "0.0.5"] def @main(%x: int32) { (%x, %x) }', {})
    >>> [name.name_hint for name in module.functions]
    ['main']
    """
    parser = ExpressionParser(tokenize(text, source_name), operators)
    _version(parser.cursor, required=True)
    return _Module(parser).read()


def parse_expr(
    text: str, operators: OperatorTable, source_name: str = "<text>", module: IRModule | None = None
) -> Expr:
    """The expression that `text` is; it may use the data types of `module`. The version line may be left out.

    >>> parse_expr("1f", {}).dtype
    <DType.FLOAT32: 'float32'>
    """
    parser = ExpressionParser(tokenize(text, source_name), operators)
    _version(parser.cursor, required=False)
    for data in (module or IRModule()).type_definitions.values():
        parser.types.data_types[data.header.name] = data.header
        parser.constructors.update((constructor.name_hint, constructor) for constructor in data.constructors)
    return run(parser.sequence(""))


def _version(cursor: Cursor, required: bool) -> None:
    if not cursor.at("#["):
        if required:
            cursor.fail("a module begins with its version", '#[version = "0.0.5"]')
        return
    cursor.advance()
    cursor.expect("version", "in the first line")
    cursor.expect("=", "in the first line")
    span = cursor.span()
    version = cursor.expect_kind(Kind.STRING, "where the version stands")
    if version != f'"{SUPPORTED_VERSION}"':
        raise RelayError(
            rule="unknown-version",
            message="the text is of another version",
            span=span,
            expected=f'"{SUPPORTED_VERSION}"',
            found=version,
        )
    cursor.expect("]", "after the version")


class _Module:
    """Reads the definitions of a module: data types first, since they may be used before they stand in the text."""

    def __init__(self, parser: ExpressionParser) -> None:
        self.parser = parser
        self.cursor = parser.cursor
        self.types: dict[GlobalTypeVar, TypeData] = {}
        self.functions: dict[GlobalVar, Function] = {}

    def read(self) -> IRModule:
        types, functions = self._find_definitions()
        for position in types:
            self.cursor.seek(position)
            self._type_definition()
        for position in functions:
            self.cursor.seek(position)
            self._function_definition()
        known = {name.name_hint for name in self.functions}
        for name, span in self.parser.global_places.items():
            if name not in known:
                message = f"the module has no function @{name}"
                raise RelayError(rule="unknown-global", message=message, span=span, remedy=near_names(name, known))
        return IRModule(self.functions, self.types)

    def _find_definitions(self) -> tuple[list[int], list[int]]:
        """Where type and function definitions begin, and the names of the types."""
        cursor, types, functions = self.cursor, list[int](), list[int]()
        while cursor.kind is not Kind.END:
            start = cursor.position
            if cursor.at("type") or cursor.at("extern"):
                types.append(start)
                self._declare_type()
            elif cursor.at("def"):
                functions.append(start)
                cursor.advance()
            else:
                cursor.fail("a definition is missing here", "`def`, `type` or `extern type`")
            self._skip_definition()
        return types, functions

    def _declare_type(self) -> None:
        extern = self.cursor.accept("extern")
        self.cursor.expect("type", "after `extern`" if extern else "here")
        span = self.cursor.span()
        name = self.cursor.expect_kind(Kind.NAME, "after `type`")
        if name in self.parser.types.data_types:
            raise _duplicate(f"type {name}", span)
        self.parser.types.data_types[name] = GlobalTypeVar(name)

    def _skip_definition(self) -> None:
        """Pass everything up to the next definition outside braces."""
        cursor, depth = self.cursor, 0
        while cursor.kind is not Kind.END:
            if cursor.kind is Kind.MARK:
                depth += {"{": 1, "}": -1}.get(cursor.text, 0)
            elif depth == 0 and cursor.text in ("def", "type", "extern") and cursor.kind is Kind.NAME:
                return
            if depth < 0:
                cursor.fail("a brace is closed that was not opened")
            cursor.advance()
            if depth == 0 and self.cursor.tokens.texts[cursor.position - 1] == "}":
                return

    def _type_definition(self) -> None:
        cursor, reader = self.cursor, self.parser.types
        reader.symbols = {}
        first = cursor.position
        extern = cursor.accept("extern")
        cursor.advance()
        header = reader.data_types[cursor.advance()]
        with reader.type_params() as variables:
            span = cursor.span_from(first)
            constructors: list[Constructor] = []
            if not extern:
                cursor.expect("{", "before the constructors")
                while not cursor.accept("}"):
                    constructors.append(self._constructor(header, len(constructors)))
                    if not cursor.at("}"):
                        cursor.expect(",", "between constructors")
        self.types[header] = TypeData(header, variables, tuple(constructors), extern, span)

    def _constructor(self, header: GlobalTypeVar, tag: int) -> Constructor:
        cursor, reader = self.cursor, self.parser.types
        span = cursor.span()
        name = cursor.expect_kind(Kind.NAME, "where a constructor stands")
        if name in self.parser.constructors:
            raise _duplicate(f"constructor {name}", span)
        inputs = []
        if cursor.accept("("):
            while not cursor.accept(")"):
                inputs.append(reader.type_())
                if not cursor.at(")"):
                    cursor.expect(",", "between the fields of a constructor")
        constructor = Constructor(name, tuple(inputs), header, tag, span=span)
        self.parser.constructors[name] = constructor
        return constructor

    def _function_definition(self) -> None:
        cursor = self.cursor
        self.parser.types.symbols = {}
        first = cursor.position
        cursor.expect("def", "here")
        span = cursor.span()
        name = GlobalVar(plain_name(cursor.expect_kind(Kind.GLOBAL, "after `def`"), span))
        if name in self.functions:
            raise _duplicate(f"function @{name.name_hint}", span)
        defined = run(function(self.parser, first))
        if not isinstance(defined, Function):
            cursor.fail("a function is missing here")
        self.functions[name] = defined


def _duplicate(what: str, span: Span) -> RelayError:
    return RelayError(rule="duplicate-name", message=f"{what} is defined twice", span=span)
