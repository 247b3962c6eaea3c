"""Indices as 64-bit integers, and addresses made of them.

The address of `buffer[indices]` is `base + Σ term · stride + constant`. Terms are added outermost loop first, each
where its symbol becomes known, so an inner loop adds only what changes in it; the constant stays a displacement.
"""

from __future__ import annotations

from relay.arith.expr import (
    Atom,
    Comparison,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Node,
    Product,
    Sum,
    Symbol,
    linear_parts,
    multiply,
)  # fmt: skip
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.targets.cpu.emit.context import Emitter, Place
from relay.targets.cpu.emit.numbers.typenames import register_element
from relay.targets.cpu.emit.text import HERE
from relay.tir.buffer import Buffer
from relay.tir.expr import Index, Ramp
from relay.tir.traversal import ValueIndex

_COMPARISONS = {"<": "slt", "<=": "sle", "==": "eq", "!=": "ne"}


def emit_index(e: Emitter, expr: IntExpr) -> str:
    """The operand, an `i64`, that holds `expr`."""
    return _index(e, expr)[0]


def emit_comparison(e: Emitter, comparison: Comparison) -> str:
    """The `i1` that says whether the comparison holds."""
    left, left_depth = _index(e, comparison.left)
    right, right_depth = _index(e, comparison.right)
    predicate = _COMPARISONS[comparison.op]
    return e.function.op_at(max(left_depth, right_depth), f"icmp {predicate} i64 {left}, {right}")


def _index(e: Emitter, expr: IntExpr) -> tuple[str, int]:
    """The operand and the depth of the region from whose prologue on it is known."""
    match expr:
        case int():
            return str(expr), 0
        case Symbol():
            return e.symbols[expr]
        case Sum(constant, terms):
            return _sum(e, constant, terms)
        case Product(factors):
            return _fold(e, "mul nsw i64", factors)
        case FloorDiv(left, right):
            return _divide(e, left, right, remainder=False)
        case FloorMod(left, right):
            return _divide(e, left, right, remainder=True)
        case Min(left, right):
            return _extremum(e, "smin", left, right)
        case Max(left, right):
            return _extremum(e, "smax", left, right)
        case ValueIndex(value):
            return _widen(
                e, value.dtype.is_unsigned_integer, e.emit_value(e, value), register_element(value.dtype)
            ), HERE
        case _:
            raise CompilerBug("emit", f"{e.kernel_name}: no number for the index `{expr}` ({type(expr).__name__})")


def _widen(e: Emitter, unsigned: bool, text: str, element: str) -> str:
    if element == "i64":
        return text
    return e.function.op(f"{'zext' if unsigned or element == 'i1' else 'sext'} {element} {text} to i64")


def _sum(e: Emitter, constant: int, terms: tuple[tuple[Node, int], ...]) -> tuple[str, int]:
    total, depth = _weighted(e, terms, 1)
    return (e.function.op_at(depth, f"add nsw i64 {total}, {constant}") if constant else total), depth


def _weighted(e: Emitter, terms: tuple[tuple[Node, int], ...], scale: int) -> tuple[str, int]:
    """Σ coefficient · scale · term, those known earliest first."""
    total, total_depth = "", 0
    known = [(*_index(e, term), coefficient * scale) for term, coefficient in terms]
    known.sort(key=lambda item: item[1])
    for text, depth, coefficient in known:
        total_depth = max(depth, total_depth)
        scaled = text if coefficient == 1 else e.function.op_at(depth, f"mul nsw i64 {text}, {coefficient}")
        total = e.function.op_at(total_depth, f"add nsw i64 {total}, {scaled}") if total else scaled
    return total, total_depth


def _fold(e: Emitter, instruction: str, parts: tuple[IntExpr, ...]) -> tuple[str, int]:
    total, total_depth = _index(e, parts[0])
    for part in parts[1:]:
        text, depth = _index(e, part)
        total_depth = max(total_depth, depth)
        total = e.function.op_at(total_depth, f"{instruction} {total}, {text}")
    return total, total_depth


def _extremum(e: Emitter, name: str, left: IntExpr, right: IntExpr) -> tuple[str, int]:
    left_text, left_depth = _index(e, left)
    right_text, right_depth = _index(e, right)
    e.module.declare(f"llvm.{name}.i64", f"i64 @llvm.{name}.i64(i64, i64)")
    depth = max(left_depth, right_depth)
    return e.function.op_at(depth, f"call i64 @llvm.{name}.i64(i64 {left_text}, i64 {right_text})"), depth


def _divide(e: Emitter, left: IntExpr, right: IntExpr, remainder: bool) -> tuple[str, int]:
    """Floor division or modulo; by shifts and masks for powers of two."""
    text, depth = _index(e, left)
    if isinstance(right, int) and right > 0 and right & (right - 1) == 0:
        instruction = f"and i64 {text}, {right - 1}" if remainder else f"ashr i64 {text}, {right.bit_length() - 1}"
        return e.function.op_at(depth, instruction), depth
    divisor, divisor_depth = _index(e, right)
    depth = max(depth, divisor_depth)
    op = e.function.op_at
    if not isinstance(right, int):  # it may be computed before the loop or branch that makes sure it is not 0
        zero = op(depth, f"icmp eq i64 {divisor}, 0")
        divisor = op(depth, f"select i1 {zero}, i64 1, i64 {divisor}")
    if is_nonnegative(left) and is_nonnegative(right):
        return op(depth, f"{'urem' if remainder else 'udiv'} i64 {text}, {divisor}"), depth
    rest = op(depth, f"srem i64 {text}, {divisor}")
    signs = op(depth, f"xor i64 {rest}, {divisor}")
    differ = op(depth, f"icmp slt i64 {signs}, 0")
    inexact = op(depth, f"icmp ne i64 {rest}, 0")
    adjust = op(depth, f"and i1 {differ}, {inexact}")
    if remainder:
        raised = op(depth, f"add nsw i64 {rest}, {divisor}")
        return op(depth, f"select i1 {adjust}, i64 {raised}, i64 {rest}"), depth
    quotient = op(depth, f"sdiv i64 {text}, {divisor}")
    lowered = op(depth, f"add nsw i64 {quotient}, -1")
    return op(depth, f"select i1 {adjust}, i64 {lowered}, i64 {quotient}"), depth


def is_nonnegative(expr: IntExpr) -> bool:
    """Whether `expr` is certainly 0 or more: loop variables and extents are."""
    match expr:
        case int():
            return expr >= 0
        case Symbol():
            return True
        case Sum(constant, terms):
            return constant >= 0 and all(k > 0 and is_nonnegative(term) for term, k in terms)
        case Product(factors):
            return all(map(is_nonnegative, factors))
        case FloorDiv(left, right) | Min(left, right):
            return is_nonnegative(left) and is_nonnegative(right)
        case FloorMod(_, right):
            return is_nonnegative(right)
        case Max(left, right):
            return is_nonnegative(left) or is_nonnegative(right)
        case Atom() | _:
            return False


@frozen
class Element:
    """The address of an element, or of the first of `lanes` that are `stride` elements apart (None: `stride_value`, an
    i64, elements)."""

    pointer: str
    stride: int | None
    lanes: int
    stride_value: str = ""


def emit_address(e: Emitter, buffer: Buffer, indices: tuple[Index, ...]) -> Element:
    """Where `buffer[indices]` is."""
    place = e.places[buffer]
    constant = 0
    terms: dict[Node, int] = {}
    stride: int | None = 0
    stride_value = ""
    lanes = 1
    for index, step in zip(indices, place.strides, strict=True):
        if isinstance(index, Ramp):
            base, lanes = index.base, index.lanes
            if isinstance(step, int):
                stride = index.stride * step
            else:
                stride, stride_value = None, emit_index(e, multiply(step, index.stride))
        else:
            base = index
        if isinstance(step, int):
            if isinstance(base, int):
                constant += base * step
                continue
            part_constant, part = linear_parts(base)
            scale = step
        else:
            part_constant, part = linear_parts(multiply(base, step))
            scale = 1
        constant += part_constant * scale
        for term, coefficient in part:
            terms[term] = terms.get(term, 0) + coefficient * scale
    pointer = place.pointer
    if terms:
        key = (pointer, tuple(terms.items()))
        pointer = e.function.known_address(key) or _add_terms(e, place, key)
    if constant:
        pointer = e.function.op(f"getelementptr i8, ptr {pointer}, i64 {constant * place.item_bytes}")
    return Element(pointer, stride, lanes, stride_value)


def _add_terms(e: Emitter, place: Place, key: tuple[str, tuple[tuple[Node, int], ...]]) -> str:
    """The buffer's address plus Σ term · coefficient · item bytes, a step for each depth where terms become known."""
    pointer, terms = key
    by_depth: dict[int, list[tuple[str, int]]] = {}
    for term, coefficient in terms:
        if coefficient:
            text, term_depth = _index(e, term)
            by_depth.setdefault(max(term_depth, place.depth), []).append((text, coefficient * place.item_bytes))
    level = place.depth
    for level in sorted(by_depth):
        total = ""
        for text, bytes_ in by_depth[level]:
            scaled = text if bytes_ == 1 else e.function.op_at(level, f"mul nsw i64 {text}, {bytes_}")
            total = e.function.op_at(level, f"add nsw i64 {total}, {scaled}") if total else scaled
        pointer = e.function.op_at(level, f"getelementptr i8, ptr {pointer}, i64 {total}")
    e.function.know_address(level, key, pointer)
    return pointer
