"""The page "From C and C++": its programs are compiled as it says, print what it says, and are clean."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import relay
from tests.pages import DOCS

PAGE = (DOCS / "from_c.md").read_text(encoding="utf-8")
NAMES = ("classify", "double", "folds")
FILES = {"c": "main.c", "cpp": "main.cpp", "cmake": "CMakeLists.txt"}
SANITIZED = "-fsanitize=address,undefined -fno-sanitize-recover=all -g"

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler")


def blocks(language: str, name: str) -> list[str]:
    """The blocks in a language that are titled as files in the folder `name`, or as commands in it."""
    pattern = rf'^```{language} title="(?:in )?{name}/[\w.]*"\n(.*?)^```$'
    return re.findall(pattern, PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module", params=NAMES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of the page in every kind of library; of AVX2, since valgrind knows no AVX-512."""
    name: str = request.param
    path = tmp_path_factory.mktemp("page") / name
    path.mkdir()
    (source,) = blocks("relay", name)
    executable = relay.build(relay.parse(source), target="llvm -mcpu=haswell")
    for suffix in (".so", ".o", ".a"):
        executable.export(path / f"{name}{suffix}")
    for language, file in FILES.items():
        for text in blocks(language, name):
            (path / file).write_text(text, encoding="utf-8")
    return path


def commands(name: str) -> list[tuple[str, str]]:
    """What is typed, and what it prints."""
    found = [re.split(r"^\$ ", block, flags=re.MULTILINE)[1:] for block in blocks("console", name)]
    return [(line, printed) for block in found for line, _, printed in (each.partition("\n") for each in block)]


def shell(line: str, folder: Path) -> str:
    done = subprocess.run(
        ["sh", "-c", line], cwd=folder, env={"PATH": os.environ["PATH"]},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_print_what_the_page_says(folder: Path):
    for line, printed in commands(folder.name):
        assert shell(line, folder) == printed, line


def test_sanitizers_find_nothing(folder: Path):
    for line, printed in commands(folder.name):
        assert shell(re.sub(r"^(gcc|g\+\+)", rf"\1 -Wall -Wextra -Werror {SANITIZED}", line), folder) == printed, line


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_valgrind_finds_nothing(folder: Path):
    checked = "valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite ./main"
    for line, printed in commands(folder.name):
        assert shell(line.replace("./main", checked) if line == "./main" else line, folder) == printed, line


@pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed")
def test_cmake_builds_it(folder: Path):
    if not blocks("cmake", folder.name):
        return
    shell("cmake -S . -B built && cmake --build built", folder)
    assert shell("built/main", folder) == commands(folder.name)[-1][1]
