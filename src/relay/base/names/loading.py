"""Names of packages that are loaded when they are first asked for, so that importing a package is cheap."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

Row = TypeVar("Row")


def names_when_asked(package: str, homes: Mapping[str, str], modules: tuple[str, ...] = ()) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names have `homes`, and whose `modules` are attributes.

    >>> get = names_when_asked("os", {"join": "os.path"}, ("path",))
    >>> get("join")("a", "b"), get("path").basename("a/b")
    ('a/b', 'b')
    >>> get("missing")
    Traceback (most recent call last):
        ...
    AttributeError: module 'os' has no attribute 'missing'
    """

    def find(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(importlib.import_module(homes[name]), name)

    return find


def names_of(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package whose names are those of a module.

    >>> get, names = names_of("posixpath")
    >>> get("join")("a", "b"), "join" in names()
    ('a/b', True)
    """

    def find(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"the package has no attribute '{name}'")
        return getattr(importlib.import_module(module), name)

    return find, lambda: dir(importlib.import_module(module))


def when_called(module: str, name: str) -> Callable[..., Any]:
    """A function of a module, which is loaded by the first call.

    >>> when_called("math", "sqrt")(4.0)
    2.0
    """

    def call(*arguments: Any, **named: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*arguments, **named)

    return call


class LoadedRows(Mapping[str, Row]):
    """A table whose rows stand in modules of a package, which are loaded when rows of them are asked for.

    `families` gives the names of rows, with spaces between them, by where they stand: `module:collection`. `name` is
    that of a row.

    >>> suffixes = LoadedRows("importlib", {"machinery:SOURCE_SUFFIXES": ".py"}, str)
    >>> list(suffixes), suffixes[".py"], ".rs" in suffixes
    (['.py'], '.py', False)
    """

    def __init__(self, package: str, families: Mapping[str, str], name: Callable[[Row], str]) -> None:
        self._package = package
        self._name = name
        self._homes = {each: home for home, names in families.items() for each in names.split()}
        self._rows: dict[str, Row] = {}

    def __getitem__(self, name: str) -> Row:
        if name not in self._rows:
            module, _, collection = self._homes[name].partition(":")
            rows: Iterable[Row] = getattr(importlib.import_module(f"{self._package}.{module}"), collection)
            self._rows.update((self._name(row), row) for row in rows)
        return self._rows[name]

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)
