"""`relay completions`: the words of the command line, for the completion of a shell.

relay completions bash > ~/.local/share/bash-completion/completions/relay
relay completions zsh > ~/.zfunc/_relay
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable
from typing import cast

from relay.cli import main

SHELLS = ("bash", "zsh")


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("shell", choices=SHELLS, help="the shell")
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> None:
    print(script(options.shell))


def script(shell: str) -> str:
    """A function for Bash, which Zsh can use too: after an option with choices these, else options and files."""
    choices: list[str] = []
    words: list[str] = []
    for command in main.COMMANDS:
        actions = _actions(command)
        for action in actions:
            if action.choices is not None and action.option_strings:
                places = "|".join(f"{command}:{option}" for option in action.option_strings)
                choices.append(f"    {places}) words={_quoted(action.choices)} ;;")
        positional = [each for action in actions if not action.option_strings for each in action.choices or ()]
        options = [option for action in actions for option in action.option_strings]
        words.append(f"    {command}) words={_quoted([*positional, *options])} ;;")
    body = _SCRIPT.format(
        commands=_quoted([*main.COMMANDS, "--help", "--version"]), choices="\n".join(choices), words="\n".join(words)
    )
    return _FOR_ZSH + body if shell == "zsh" else body


def _actions(command: str) -> list[argparse.Action]:
    """The options and arguments of a command. `argparse` has no public door to them."""
    (commands,) = (each.choices for each in _of(main.parser(command)) if isinstance(each.choices, dict))
    return _of(cast("dict[str, argparse.ArgumentParser]", commands)[command])


def _of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def _quoted(words: Iterable[object]) -> str:
    return shlex.quote(" ".join(map(str, words)))


_FOR_ZSH = "#compdef relay\nautoload -U +X bashcompinit && bashcompinit\n"
_SCRIPT = """_relay() {{
  local words="" files=yes word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    words={commands} files=no
  else
    case "${{COMP_WORDS[1]}}:$before" in
{choices}
    *) case "${{COMP_WORDS[1]}}" in
{words}
    esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ "$files" = yes ] && [ "${{word#-}}" = "$word" ]; then
    COMPREPLY+=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _relay relay"""
