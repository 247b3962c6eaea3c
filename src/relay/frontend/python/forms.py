"""What the reader makes of Python: the handler of each form. What has none is refused."""

from __future__ import annotations

import ast
from types import FunctionType

from relay.frontend.python.block import Forms
from relay.frontend.python.callables import Method, Partial, PythonFunction, Template, Transformed
from relay.frontend.python.expressions import comprehensions, displays, names, operators
from relay.frontend.python.functions import calls, definitions, templates, transformed, undecorated
from relay.frontend.python.library.functional import call_partial
from relay.frontend.python.models import ModelPart
from relay.frontend.python.statements import branches, loops, matching, simple
from relay.ir.expr import ExprBase

FORMS = Forms(
    expressions={
        ast.Attribute: names.attribute,
        ast.BinOp: operators.binary,
        ast.BoolOp: operators.short_circuit,
        ast.Call: calls.called,
        ast.Compare: operators.compare,
        ast.Constant: names.constant,
        ast.Dict: displays.dict_display,
        ast.DictComp: comprehensions.dict_comprehension,
        ast.GeneratorExp: comprehensions.comprehension,
        ast.IfExp: operators.either,
        ast.JoinedStr: displays.formatted,
        ast.Lambda: templates.template,
        ast.List: displays.list_display,
        ast.ListComp: comprehensions.comprehension,
        ast.Name: names.name,
        ast.NamedExpr: names.named,
        ast.Subscript: names.subscript,
        ast.Tuple: displays.tuple_display,
        ast.UnaryOp: operators.unary,
    },
    conditions={ast.BoolOp: operators.all_true},
    statements={
        ast.AnnAssign: simple.going_on(simple.annotated),
        ast.Assign: simple.going_on(simple.assignment),
        ast.AugAssign: simple.going_on(simple.augmented),
        ast.Expr: simple.going_on(simple.effect),
        ast.FunctionDef: simple.going_on(templates.define_template),
        ast.Assert: simple.asserted,
        ast.Pass: simple.going_on(lambda block, node: None),  # noqa: ARG005
        ast.If: branches.if_else,
        ast.Match: matching.match,
        ast.For: loops.loop,
        ast.While: loops.loop,
        ast.Break: simple.broken,
        ast.Continue: simple.continued,
        ast.Return: simple.returned,
        ast.Raise: simple.raised,
    },
    calls={
        ExprBase: calls.call_value,
        Method: calls.call_method,
        Template: templates.call_template,
        Partial: call_partial,
        PythonFunction: definitions.call_function,
        Transformed: transformed.call_transformed,
        ModelPart: templates.call_model,
        type: calls.call_class,
        object: calls.call_python,
    },
    closures={
        Template: templates.closure,
        PythonFunction: definitions.function_value,
        Transformed: transformed.value,
        FunctionType: undecorated.nested_value,
    },
)
