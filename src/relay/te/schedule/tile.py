"""Tile: two loops into rectangles."""

from __future__ import annotations

from dataclasses import dataclass

from relay.te.schedule.reorder import Reorder
from relay.te.schedule.split import Split
from relay.te.state import State


@dataclass(frozen=True, slots=True)
class Tile:
    """Both loops are split, and the inner halves stand inside both outer ones: rows.outer, columns.outer, rows.inner,
    columns.inner."""

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
