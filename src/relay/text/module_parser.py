"""Whole texts: modules and bare expressions."""

from __future__ import annotations

from relay.base.trampoline import run
from relay.ir.expr import Expr
from relay.ir.module import IRModule
from relay.ir.operator import OperatorTable
from relay.text.definitions import DefinitionReader
from relay.text.lexer import tokenize
from relay.text.parser import ExpressionParser
from relay.text.prelude import borrow_functions, prelude_types
from relay.text.version import read_version


def parse(text: str, operators: OperatorTable, source_name: str = "<text>") -> IRModule:
    """The module that `text` is. Time and memory are linear in its size.

    What the text names and does not define, and the prelude does (`List`, `Cons`, `@map`, ...), becomes part of the
    module, with whatever that needs.

    Raises `RelayError` with line and caret for every mistake (rules `syntax`, `unknown-operator`, `unbound-variable`,
    `duplicate-name`, `unknown-global`, `prelude-conflict`, ...).

    >>> module = parse('#[version = "0.0.5"] def @main(%x: int32) { Cons(%x, Nil) }', {})
    >>> [name.name_hint for name in module.functions], [name.name for name in module.type_definitions]
    (['main'], ['List'])
    """
    parser = ExpressionParser(tokenize(text, source_name), operators, prelude_types)
    read_version(parser.cursor, required=True)
    module = DefinitionReader(parser).read()
    return borrow_functions(module, parser.global_places, operators)


def parse_expr(
    text: str, operators: OperatorTable, source_name: str = "<text>", module: IRModule | None = None
) -> Expr:
    """The expression that `text` is; it may use the data types of `module`. The version line may be left out.

    >>> parse_expr("1f", {}).dtype
    <DType.FLOAT32: 'float32'>
    """
    parser = ExpressionParser(tokenize(text, source_name), operators)
    read_version(parser.cursor, required=False)
    for data in (module or IRModule()).type_definitions.values():
        parser.data_types.know(data)
    return run(parser.sequence(""))
