"""TfIdfVectorizer: how often runs of numbers occur in a sequence.   x[.., n] → [.., grams]"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.triangles import LARGEST_CONSTANT
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.slicing import slice_axes
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.creation.create import zeros
from relay.ops.elementwise.comparison import equal, greater, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, logical_and, multiply
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import expand_dims
from relay.ops.reduction import reduce as reduction


def _tf_idf(node: OnnxNode) -> Result:
    """Grams of each length, with up to `max_skip_count` elements left out between two of theirs, one count for each."""
    x, mode = node.value(0), node.text("mode")
    if mode not in ("TF", "IDF", "TFIDF") or node.has("pool_strings"):
        node.unsupported("of texts" if node.has("pool_strings") else f"with mode {mode!r}")
    places = np.array(node.ints("ngram_indexes"), np.int64)
    grams = _grams(node)
    counts = [_counted(node, x, each) for each in grams if each.size]
    total = sum(len(each) for each in grams)
    if total > places.size or np.any((places < 0) | (places > LARGEST_CONSTANT)):
        node.unsupported(f"with {places.size} places for {total} grams")
    none = zeros((*x.shape[:-1], 1), DType.FLOAT32)
    order = np.full(int(places.max()) + 1, total, np.int64)  # what nothing counts is 0
    order[places[:total]] = np.arange(total)
    found = take(concatenate([*counts, none], x.rank - 1), const(order), axis=x.rank - 1)
    if mode == "TF":
        return found
    weights = np.ones(order.size, np.float32)
    given = np.array(node.ints("weights", (1.0,) * places.size), np.float32)  # pyright: ignore[reportArgumentType]
    weights[places] = given
    if mode == "TFIDF":
        return multiply(found, const(weights))
    return where(greater(found, const(0, DType.FLOAT32)), const(weights), const(0, DType.FLOAT32))


def _grams(node: OnnxNode) -> list[np.ndarray[tuple[int, int], np.dtype[np.int64]]]:
    """[grams, length] for each length from 1 on; `ngram_counts` says where in the pool those of each begin."""
    pool, starts = node.ints("pool_int64s"), (*node.ints("ngram_counts"), len(node.ints("pool_int64s")))
    found: list[np.ndarray[tuple[int, int], np.dtype[np.int64]]] = []
    for length, (start, end) in enumerate(pairwise(starts), start=1):
        if not 0 <= start <= end <= len(pool) or (end - start) % length:
            node.unsupported(f"with ngram_counts {starts[:-1]} of a pool of {len(pool)}")
        found.append(np.array(pool[start:end], np.int64).reshape(-1, length))
    return found


def _counted(node: OnnxNode, x: Value, grams: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Expr:
    """[.., grams]: how often each occurs."""
    count, length = grams.shape
    least, most = node.int("min_gram_length"), node.int("max_gram_length")
    extent = x.shape[-1]
    if not isinstance(extent, int):
        node.unsupported(f"of {x.type}")
    none = zeros((*x.shape[:-1], count), DType.FLOAT32)
    if not least <= length <= most:
        return none
    skips = range(1, 2 + node.int("max_skip_count")) if length > 1 else (1,)
    reaches = [(step, extent - (length - 1) * step) for step in skips]
    return reduce(add, (_occurring(x, grams, step, starts) for step, starts in reaches if starts > 0), none)


def _occurring(x: Value, grams: np.ndarray[tuple[int, int], np.dtype[np.int64]], step: int, starts: int) -> Expr:
    """Of windows whose elements are `step` apart."""
    axis = x.rank - 1
    same: Sequence[Expr] = [
        equal(
            expand_dims(slice_axes(x.expr, x.shape, {axis: (at * step, at * step + starts, 1)}), x.rank),
            const(column.astype(x.dtype.numpy)),
        )
        for at, column in enumerate(grams.T)
    ]
    return reduction.sum(cast(reduce(logical_and, same), DType.FLOAT32), (axis,))


NGRAMS: tuple[Converter, ...] = (
    converter(
        "TfIdfVectorizer", _tf_idf, "max_gram_length", "max_skip_count", "min_gram_length", "mode", "ngram_counts",
        "ngram_indexes", "pool_int64s", "weights",
    ),
)  # fmt: skip
