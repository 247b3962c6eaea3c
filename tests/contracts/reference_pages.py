"""The pages of reference that are written from the code: errors by rule, the command line, options, speed."""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

import relay
from relay.cli.main import COMMANDS, parser
from relay.transform.framework.context import CONFIG_KEYS, FusionLimits, LayoutPreferences
from tests.messages import ERRORS

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "relay"
MADE = "This page is written from the code: `UPDATE_GOLDEN=1 python -m pytest tests/contracts/test_reference_pages.py`."

ENVIRONMENT = {
    "RELAY_CACHE": "`0`: no compiled kernels or models are kept on disk",
    "RELAY_WHOLE_TRACEBACKS": "anything but empty: tracebacks of errors show relay's own frames, too",
    "RELAY_CACHE_DIR": "the folder in which they are kept; by default `relay` in the user's cache folder",
    "RELAY_CACHE_BYTES": "how much of compiled kernels is kept; the least recently used go first",
    "RELAY_MODEL_CACHE_BYTES": "how much of compiled models is kept; the least recently used go first",
    "RELAY_WHOLE_BYTES": "how many files of models are remembered as checked: a byte each",
}
"""The variables that a process reads, and what they say. A test holds them against the source."""


# Errors by rule


@dataclass(slots=True)
class Rule:
    """What can be said of the errors of one rule: the messages in the source, where those are, and whole texts."""

    messages: set[str] = field(default_factory=set)
    remedies: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    examples: list[str] = field(default_factory=list)


def errors_page() -> str:
    rules = _rules()
    parts = [
        "# Errors by rule",
        "",
        "Every mistake that relay finds is a `relay.RelayError`. Its first line names the rule that was broken, in "
        "brackets: `error[axes-differ]: …`. `error.rule` is that name, which stays the same when the wording changes. "
        "The lines below it say where, what was expected, what was found, and what to do. "
        "A `relay.CompilerBug` is relay's fault and never yours; it names the pass or the component that failed.",
        "",
        f"There are {len(rules)} rules. `…` stands for names and numbers of your program. {MADE}",
        "",
    ]
    for name, rule in sorted(rules.items()):
        parts += [f"## {name}", "", *_described(rule)]
    return "\n".join(parts)


def _described(rule: Rule) -> Iterator[str]:
    """The lines of a rule. An example says more than patterns of messages: these stand only where there is none."""
    if rule.examples:
        yield from ("```text", min(rule.examples, key=lambda text: (len(text), text)), "```", "")
    else:
        yield from (f"- {_escaped(message)}" for message in sorted(rule.messages))
        yield from (f"- *What to do*: {_escaped(remedy)}" for remedy in sorted(rule.remedies))
        yield ""
    if rule.folders:
        yield f"Raised in {', '.join(f'`{folder}/`' for folder in sorted(rule.folders))}."
        yield ""


def _rules() -> dict[str, Rule]:
    rules: dict[str, Rule] = defaultdict(Rule)
    for path in sorted(SOURCE.rglob("*.py")):
        folder = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call):
                given = {each.arg: each.value for each in call.keywords}
                match given.get("rule"):
                    case ast.Constant(str(name)):
                        rule = rules[name]
                        rule.folders.add(folder)
                        rule.messages |= _pattern(given.get("message"))
                        rule.remedies |= _pattern(given.get("remedy"))
                    case _:
                        pass
    for path in sorted(ERRORS.rglob("*.txt")):
        for text in re.split(r"^(?=error\[)", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            if found := re.match(r"error\[([a-z0-9-]+)\]", text):
                rules[found[1]].examples.append(text.partition("\n\n")[0].rstrip())
    return dict(rules)


def _pattern(text: ast.expr | None) -> set[str]:
    """A text in the source with `…` for what it computes; nothing where all of it is computed."""
    match text:
        case ast.Constant(str(value)):
            return {value} - {""}
        case ast.JoinedStr(values):
            return {"".join(str(each.value) if isinstance(each, ast.Constant) else "…" for each in values)} - {"…"}
        case _:
            return set()


def _escaped(text: str) -> str:
    return re.sub(r"([*_<>|\[\]])", r"\\\1", " ".join(text.split()))


# The command line


def command_line_page() -> str:
    parts = [
        "# Command line",
        "",
        "`relay COMMAND …`, or `python -m relay COMMAND …`. Exit codes: 0 done, 1 a mistake in what was given, 2 wrong "
        "usage, 70 a bug of relay, 130 interrupted.",
        "",
        MADE,
        "",
    ]
    for name, purpose in COMMANDS.items():
        parts += [f"## relay {name}", "", f"{purpose[0].upper()}{purpose[1:]}.", ""]
        parts += ["| argument | what it says | default |", "|---|---|---|"]
        parts += [_option_row(action) for action in _command(name)._actions if action.dest != "help"]
        parts.append("")
    return "\n".join(parts)


def _command(name: str) -> argparse.ArgumentParser:
    (commands,) = (each for each in parser(name)._actions if isinstance(each, argparse._SubParsersAction))
    return commands.choices[name]


def _option_row(action: argparse.Action) -> str:
    choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else ""
    value = "" if action.nargs == 0 else action.metavar or choices or action.dest.upper()
    words = f"{', '.join(action.option_strings)} {value}".strip()
    default = "" if action.default in (None, False, argparse.SUPPRESS, [], ()) else f"`{action.default}`"
    said = (action.help or "") % {"default": action.default, "prog": "relay"}
    return f"| `{_cell(words)}` | {_cell(said)} | {default} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# Options


def options_page() -> str:
    return "\n".join([
        "# Options",
        "",
        "What can be said to the compiler from Python. "
        "[Command line](command_line.md) has them for the shell, [Targets](../targets.md) the flags of targets.",
        "",
        MADE,
        "",
        "## relay.build",
        "",
        *_parameters(relay.build),
        "## relay.compile_model",
        "",
        *_parameters(relay.compile_model),
        "## relay.PassContext",
        "",
        *_fields(relay.PassContext),
        "### Keys of config",
        "",
        "| key | type | what it says |",
        "|---|---|---|",
        *(f"| `{name}` | `{key.type.__name__}` | {_cell(key.meaning)} |" for name, key in CONFIG_KEYS.items()),
        "",
        "### Limits of fusion",
        "",
        *_fields(FusionLimits),
        "### Preferences of layouts",
        "",
        *_fields(LayoutPreferences),
        "## Environment variables",
        "",
        "| variable | what it says |",
        "|---|---|",
        *(f"| `{name}` | {meaning} |" for name, meaning in ENVIRONMENT.items()),
        "",
        "## Optimization levels",
        "",
        "The passes that each level adds to those of the one below it. [Passes](../passes.md) says what each does.",
        "",
        *_levels(),
    ])  # fmt: skip


def _parameters(function: Callable[..., Any]) -> Iterator[str]:
    rows = [
        (name, str(each.annotation), "" if each.default is inspect.Parameter.empty else repr(each.default))
        for name, each in inspect.signature(function).parameters.items()
    ]
    yield from _told("parameter", rows, inspect.getdoc(function) or "")


def _fields(kind: type) -> Iterator[str]:
    rows = [
        (each.name, str(each.type), "" if each.default is MISSING else repr(each.default))
        for each in fields(kind)
        if each.init
    ]
    yield from _told("field", rows, inspect.getdoc(kind) or "")


def _told(what: str, rows: list[tuple[str, str, str]], documentation: str) -> Iterator[str]:
    yield from (f"| {what} | type | default |", "|---|---|---|")
    for name, kind, default in rows:
        yield f"| `{name}` | `{kind.replace(' | ', ' or ')}` | {f'`{_cell(default)}`' if default else ''} |"
    yield from ("", documentation.split(">>>")[0].strip(), "")


def _levels() -> Iterator[str]:
    yield from ("| level | passes that it adds |", "|---|---|")
    below: set[str] = set()
    for number in range(5):
        names = list(dict.fromkeys(each.name for each in relay.transform.level(number).passes))
        yield f"| `-O{number}` | {', '.join(f'`{name}`' for name in names if name not in below)} |"
        below |= set(names)
    yield ""


# Speed


def speed_table() -> str:
    """How many times as fast as each peer, for each network and number of threads, of the figures on record."""
    record = json.loads((ROOT / "benchmarks" / "results" / "networks.json").read_text(encoding="utf-8"))
    figures = record["figures"]
    ratios = {(each["workload"], each["threads"], each["peer"]): each["ratio"] for each in figures}
    threads = sorted({each["threads"] for each in figures})
    peers = sorted({each["peer"] for each in figures})
    columns = [(count, peer) for count in threads for peer in peers]
    titles = [f"{peer}, {count} thread{'s' if count > 1 else ''}" for count, peer in columns]
    lines = [f"| network | {' | '.join(titles)} |", "|---|" + "--:|" * len(columns)]
    for network in dict.fromkeys(each["workload"] for each in figures):
        cells = [ratios.get((network, *column)) for column in columns]
        lines.append(f"| {network} | {' | '.join('–' if ratio is None else f'{ratio:.2f}' for ratio in cells)} |")
    return "\n".join(lines) + "\n"
