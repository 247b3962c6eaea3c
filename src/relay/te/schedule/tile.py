"""Tile: two loops into rectangles."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.te.schedule.reorder import Reorder
from relay.te.schedule.split import Split
from relay.te.state import State


@frozen
class Tile:
    """Both loops are split, and the inner halves stand inside both outer ones: rows.outer, columns.outer, rows.inner,
    columns.inner.

    >>> from relay import te
    >>> a, b = te.placeholder((8, 8), "float32", "a"), te.placeholder((8, 8), "float32", "b")
    >>> k = te.reduce_axis(8, "k")
    >>> c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    >>> print(te.apply([c]))  # before
    for i
      for j
        for k
          c
    >>> print(te.apply([c], [te.Tile("c", "i", "j", 4, 2)]))  # after
    for i.outer
      for j.outer
        for i.inner
          for j.inner
            for k
              c
    """

    stage: str
    rows: str
    columns: str
    row_factor: int
    column_factor: int

    def apply(self, state: State) -> State:
        state = Split(self.stage, self.rows, factor=self.row_factor).apply(state)
        state = Split(self.stage, self.columns, factor=self.column_factor).apply(state)
        halves = (f"{self.rows}.outer", f"{self.columns}.outer", f"{self.rows}.inner", f"{self.columns}.inner")
        return Reorder(self.stage, halves).apply(state)
