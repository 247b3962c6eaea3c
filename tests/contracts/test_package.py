"""What is published: its name, version, licence and changelog agree, and remedies name it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import relay

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_one():
    assert PROJECT["version"] == relay.__version__
    first = re.search(
        r"^## (\S+) \((not released|\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert first is not None
    assert first[1] == relay.__version__


def test_the_licence_is_there():
    assert PROJECT["license"] == "Apache-2.0"
    assert PROJECT["license-files"] == ["LICENSE"]
    assert "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text()


def test_every_remedy_names_the_package_and_an_extra_of_it():
    """The name `relay` on the index is another project's."""
    pages = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    named = {
        (package, extra)
        for page in pages
        for package, extras in re.findall(
            r"pip install [\"'\\]*([\w.-]+)\[([\w,]+)\]", page.read_text(encoding="utf-8")
        )
        for extra in extras.split(",")
    }
    assert {package for package, _ in named} == {"relay-ir", "."}
    assert {extra for _, extra in named} <= set(PROJECT["optional-dependencies"])
