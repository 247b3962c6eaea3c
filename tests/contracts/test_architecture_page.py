"""The architecture page names every folder, and no folder that is not there; the page of passes names every pass."""

from __future__ import annotations

import re
from pathlib import Path

import relay

ROOT = Path(__file__).resolve().parents[2]


def test_rows_and_folders_agree() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    rows = set(re.findall(r"^\| \d+ \| `(\w+)/`", page, re.MULTILINE))
    folders = {path.name for path in (ROOT / "src" / "relay").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rows == folders


def test_no_dumping_grounds() -> None:
    names = {path.stem for path in (ROOT / "src" / "relay").rglob("*.py")}
    assert not names & {"utils", "util", "common", "helpers", "misc"}


def test_a_folder_has_at_most_twenty_files_and_folders() -> None:
    source = ROOT / "src" / "relay"
    for folder in (path.parent for path in source.rglob("__init__.py") if path.parent != source):
        inside = {path.name for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
        assert len(inside - {"__init__.py"}) <= 20, folder


def test_packages_hand_names_on_and_define_nothing() -> None:
    for path in (ROOT / "src" / "relay").rglob("__init__.py"):
        if path.parent.name != "relay":
            assert not re.search(r"^(def|class) ", path.read_text(), re.MULTILINE), path


def test_the_page_of_passes_names_all_that_run_by_default() -> None:
    page = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    names = {each.name for number in range(5) for each in relay.transform.level(number).passes}
    assert sorted(name for name in names if f"`{name}`" not in page) == []
