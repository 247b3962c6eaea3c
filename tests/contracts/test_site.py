"""The documentation as a site: it is built without a warning, asks nothing of the network, and leaves no page out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import relay
from tests.contracts.reference_pages import ROOT
from tests.pages import DOCS

PUBLIC = {name for name in relay.__all__ if name not in relay._MODULES}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_built(site: Path):
    for page in DOCS.rglob("*.md"):
        assert (site / page.relative_to(DOCS).with_suffix(".html")).is_file()


def test_no_page_loads_anything_from_elsewhere(site: Path):
    loaded = re.compile(
        r"""<(?:script|img|iframe|link(?=[^>]*stylesheet))[^>]*(?:src|href)=["']?(?:https?:)?//[^>]*>"""
    )
    for page in site.rglob("*.html"):
        assert loaded.findall(page.read_text(encoding="utf-8")) == [], page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", style.read_text(encoding="utf-8")), style


def test_the_page_of_the_api_has_every_public_name():
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: relay\.(\w+)$", page, re.MULTILINE)
    assert sorted(shown) == sorted(PUBLIC)
    for name in relay._MODULES:
        assert f"`relay.{name}`" in page, name


def test_no_block_shows_its_fence(site: Path):
    """Fences that the generator does not read as such are shown as text."""
    for page in site.rglob("*.html"):
        assert "<p>```" not in page.read_text(encoding="utf-8"), page


def test_links_and_images_lead_to_files_of_the_site(site: Path):
    for page in site.rglob("*.html"):
        if page.name == "404.html":  # its links are from the root of a server
            continue
        text = re.sub(r"<code.*?</code>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"""\b(?:href|src)=["']?([^"'\s>#]+)""", text):
            assert re.match(r"[a-z]+:", target) or (page.parent / target).exists(), f"{page.name}: {target}"


def test_programs_of_relay_are_coloured(site: Path):
    page = (site / "from_c.html").read_text(encoding="utf-8")
    programs = re.findall(r'<span class="filename">\w+/\w+\.relay</span>.*?</code>', page, re.DOTALL)
    assert len(programs) == 3
    for program in programs:
        assert '<span class="k">def</span>' in program
        assert 'class="err"' not in program
