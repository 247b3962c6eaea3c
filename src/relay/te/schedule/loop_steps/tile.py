"""Tile: two loops into rectangles."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.te.schedule.loop_steps.reorder import Reorder
from relay.te.schedule.loop_steps.split import Split
from relay.te.state import State


@frozen
class Tile:
    """Split both loops and nest the inner halves inside both outer ones: rows.outer, columns.outer, rows.inner,
    columns.inner.

    >>> from relay import te
    >>> a = te.placeholder((8, 8), "float32", "a")
    >>> c = te.compute((8, 8), lambda i, j: a[i, j] * 2.0, name="c")
    >>> print(te.print_loops(te.apply([c])))  # before
    serial i in 8 {
      serial j in 8 {
        c[i, j] = (a[i, j] * float32(2.0));
      }
    }
    >>> print(te.print_loops(te.apply([c], [te.Tile("c", "i", "j", 4, 2)])))  # after
    serial i.outer in 2 {
      serial j.outer in 4 {
        serial i.inner in 4 {
          serial j.inner in 2 {
            c[4*i.outer + i.inner, 2*j.outer + j.inner] = (a[4*i.outer + i.inner, 2*j.outer + j.inner] * float32(2.0));
          }
        }
      }
    }
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
