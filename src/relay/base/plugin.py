"""What others bring, as relay asks it: an error of theirs is told as theirs, and not as a crash of the compiler.

error[plugin-failed]: the target `lanes` failed in `schedule`, asked about fused_nn_dense
  found:    IndexError: tuple index out of range
  help: this is a fault of what brings the target `lanes`, not of the program
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.frozen import frozen

Brought = TypeVar("Brought")
_MAKES_PLUGINS = ("kernel_target", "host_target", "kernels")
"""What gives another plug-in of the same origin."""


@frozen
class Plugin:
    """Has the attributes and methods of a plug-in. What these raise is a `RelayError` (rule `plugin-failed`) that names
    the plug-in, the method, what it was asked about, and the cause; errors of relay's own kinds pass as they are.

    `brought` is the plug-in, `called` what people know it as: "the target `lanes`". `about` says in words what it was
    asked about; empty: nothing that helps.
    """

    _brought: Any
    _called: str
    _about: Callable[[Any], str]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # of Python's own protocols, which look whether there is one
        with self._blamed(name):
            value: Any = getattr(self._brought, name)
        if not callable(value):
            return self._same_origin(name, value)

        def ask(*arguments: Any, **options: Any) -> Any:
            with self._blamed(name, *arguments[:1]):
                answer = value(*arguments, **options)
            return self._same_origin(name, answer)

        return ask

    def _same_origin(self, name: str, value: Any) -> Any:
        return plugin(value, self._called, self._about) if name in _MAKES_PLUGINS and value is not None else value

    @contextmanager
    def _blamed(self, method: str, *asked: object) -> Generator[None]:
        try:
            yield
        except (RelayError, CompilerBug, MemoryError):
            raise
        except Exception as error:
            about = self._about(asked[0]) if asked else ""
            where = f"in `{method}`" + (f", asked about {about}" if about else "")
            raise plugin_failure(self._called, where, error) from error


def plugin_failure(called: str, where: str, error: Exception) -> RelayError:
    """What it is that `error` came out of a plug-in."""
    return RelayError(
        rule="plugin-failed",
        message=f"{called} failed {where}",
        found=f"{type(error).__name__}: {error}",
        remedy=f"this is a fault of what brings {called}, not of the program",
    )


def name_of_plugin(brought: object) -> str:
    """What people know a plug-in as; empty for what is relay's own."""
    match brought:
        case Plugin(_, called):
            return called
        case _:
            return ""


def in_words(asked: Any) -> str:
    """What a plug-in was asked about, by its name, or its text of one line; empty for what has neither."""
    attributes: Any = getattr(asked, "attrs", None)
    name: Any = attributes.get("name") if isinstance(attributes, Mapping) else getattr(asked, "name", None)
    if isinstance(name, str):
        return name
    if isinstance(asked, Sequence) and not isinstance(asked, str):
        return ", ".join(map(in_words, asked))
    text = str(asked) if type(asked).__str__ is not object.__str__ else ""
    return "" if "\n" in text else text


def plugin(brought: Brought, called: str, about: Callable[[Any], str] = in_words) -> Brought:
    """`brought`, asked with care; its type stays that of the protocol which it follows."""
    made: Any = Plugin(brought, called, about)
    return made
