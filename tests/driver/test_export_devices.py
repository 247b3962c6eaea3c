"""The page about devices runs: a program in C that gives an exported library its device."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.driver.test_export import compile_c, run_c
from tests.pages import DOCS, run_page


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run_page("devices.md", tmp_path)
    return tmp_path


def test_the_program_of_the_page_prints_what_the_page_says(folder: Path):
    page = (DOCS / "devices.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (printed,) = re.findall(r"^It prints `(.*)`\.$", page, re.MULTILINE)
    done = run_c(compile_c(source, folder / "model.so"), folder=folder)
    assert (done.stdout, done.returncode) == (printed + "\n", 0), done.stderr


def test_the_header_says_which_devices_are_wanted(folder: Path):
    header = (folder / "model.h").read_text(encoding="utf-8")
    assert "     negator:0  which must load negator-1\n" in header
    assert "     -6  when a device is not connected\n" in header
