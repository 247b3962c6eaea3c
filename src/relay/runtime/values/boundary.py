"""What is known of one call of a native program while values cross its boundary: which refs and functions of the
caller's it works with, and what the symbols of its types stand for."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.frozen import frozen, mutable
from relay.runtime.arguments.extents import Extents
from relay.runtime.artefact.manifest import CellLabel
from relay.runtime.values.heap import FIELDS_OFFSET_BYTES
from relay.runtime.values.plans import Plans
from relay.runtime.values.stored import HostFunction
from relay.runtime.values.values import RefValue


@frozen(eq=False)
class Boundary:
    """What all calls of a program share. `host_codes` are the codes of closures that call Python, by the number of
    their arguments; `program` is who runs the functions that come out."""

    plans: Plans
    host_codes: Mapping[int, int]
    program: Any

    def label(self, kind: str) -> int:
        return self.plans.labels[CellLabel(kind)]


@mutable
class SharedRef:
    """A ref that a call works with: its object, and the word that it held at first (0 when the call made it).
    `written` is the Python value that stands for what it holds now."""

    ref: RefValue
    address: int
    first_word: int = 0
    written: Any = None
    newly_told: bool = False

    @property
    def word(self) -> int:
        """What it holds now."""
        return self._slot.value

    @word.setter
    def word(self, word: int) -> None:
        self._slot.value = word

    @property
    def _slot(self) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self.address + FIELDS_OFFSET_BYTES)

    @property
    def is_written(self) -> bool:
        """Whether the program gave it another value."""
        return self.word != self.first_word


@mutable
class CallState:
    """The state of one call. `refs` are by the addresses of their objects, `arrays` by those of their data: stored ones
    that need no copy. `given` are likewise those that the caller gave away; `given_objects` counts the objects of such
    values. `error` is what a function of the caller's raised."""

    boundary: Boundary
    extents: Extents = field(default_factory=Extents)
    hosts: list[HostFunction] = field(default_factory=list)
    refs: dict[int, SharedRef] = field(default_factory=dict)
    arrays: dict[int, NDArray[np.generic]] = field(default_factory=dict)
    given: dict[int, NDArray[np.generic]] = field(default_factory=dict)
    given_objects: int = 0
    error: BaseException | None = None
    kept: list[object] = field(default_factory=list)  # what objects of the call live in

    @property
    def has_effects(self) -> bool:
        """Whether running the call twice is not running it once."""
        return bool(self.refs or self.hosts)
