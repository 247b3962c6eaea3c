"""`del xs[i]` and `del xs[i:j]`, in terms of what changes lists and dicts as well: `xs.pop(i)` and `xs[i:j] = []`."""

from __future__ import annotations

import ast
import copy


def without_deletions(function: ast.FunctionDef) -> ast.FunctionDef:
    r"""A function without deletions of parts of variables. Those of variables themselves stay.

    >>> tree = ast.parse("def f(xs):\n    del xs[0], xs[1:]").body[0]
    >>> print(ast.unparse(ast.fix_missing_locations(without_deletions(tree))))
    def f(xs):
        xs.pop(0)
        xs[1:] = []
    """
    if not any(isinstance(node, ast.Delete) for node in ast.walk(function)):
        return function
    return _Deletions().visit(copy.deepcopy(function))


class _Deletions(ast.NodeTransformer):
    def visit_Delete(self, node: ast.Delete) -> ast.Delete | list[ast.stmt]:  # as `ast` calls it
        made = [_deleted(each) for each in node.targets if isinstance(each, ast.Subscript)]
        return node if len(made) < len(node.targets) else made


def _deleted(target: ast.Subscript) -> ast.stmt:
    made: ast.stmt
    if isinstance(target.slice, ast.Slice):
        place = ast.Subscript(target.value, target.slice, ast.Store())
        made = ast.Assign([place], ast.List([], ast.Load()))
    else:
        made = ast.Expr(ast.Call(ast.Attribute(target.value, "pop", ast.Load()), [target.slice], []))
    for node in ast.walk(made):  # what is new stands where the deletion does
        if isinstance(node, ast.expr | ast.stmt) and not hasattr(node, "lineno"):
            ast.copy_location(node, target)
    return made
