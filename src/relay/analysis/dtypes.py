"""The element types that a program works with."""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.ir.expr import Constant, Expr, Var
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ir.type_traversal import type_leaves
from relay.ir.types import TensorType, Type
from relay.ir.variables import all_vars


def all_dtypes(program: IRModule | Expr) -> frozenset[DType]:
    """The element types of all tensors in the types of a program: of what it computes, its variables included. A
    `DType` is a string, so `"float32" in all_dtypes(module)` asks. What has no type yet says nothing.

    >>> from relay.infer.infer_type import infer_type_expr
    >>> from relay.ir.expr import Tuple, const
    >>> sorted(all_dtypes(infer_type_expr(Tuple((const(1), const(2.0))))))
    [<DType.FLOAT32: 'float32'>, <DType.INT32: 'int32'>]
    """
    if isinstance(program, IRModule):
        return frozenset[DType]().union(*map(all_dtypes, program.functions.values()))
    types = [node.checked_type for node in post_order(program)]
    types += [_type_of(var) for var in all_vars(program)]
    constants = {node.dtype for node in post_order(program) if isinstance(node, Constant)}
    leaves = (leaf for type_ in types if type_ is not None for leaf in type_leaves(type_))
    return frozenset(leaf.dtype for leaf in leaves if isinstance(leaf, TensorType)) | constants


def _type_of(var: Var) -> Type | None:
    return var.checked_type or var.type_annotation
