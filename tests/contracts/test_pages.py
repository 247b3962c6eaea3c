"""Pages of the documentation: those of the start and of how it works run here, and no page goes untested."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.__main__ import SUITES

from relay.cli.main import main
from tests.pages import DOCS, blocks, check_printed, run_page

ROOT = DOCS.parent
LANGUAGES_THAT_RUN = {"python", "c", "cpp"}
PRINTING = ("inference.md", "fusion.md", "program_form.md", "kernels.md")
ABOUT_A_MODEL = ("index.md", "reduced_precision.md", "schedule_records.md")
REFERENCE = ("passes.md", "schedules.md")
CHECKED_BY_THEIR_OWN = {"from_c.md": "tests/driver/test_from_c_page.py"}
"""Pages whose programs are not one file of Python, and the tests that run them."""


@pytest.mark.parametrize("name", PRINTING)
def test_a_page_prints_what_it_shows(name: str, tmp_path: Path):
    check_printed(name, run_page(name, tmp_path))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file `model.onnx` that pages speak of, and what the compiler chooses for it in `mine.jsonl`."""
    folder = tmp_path_factory.mktemp("model")
    script = ROOT / "examples" / "onnx_models.py"
    subprocess.run([sys.executable, script, "squeezenet", "-o", folder / "model.onnx"], check=True, capture_output=True)
    assert main(["show", str(folder / "model.onnx"), "--stage", "schedule", "-o", str(folder / "mine.jsonl")]) == 0
    return folder


@pytest.mark.parametrize("name", ABOUT_A_MODEL)
@pytest.mark.filterwarnings("ignore")  # PyTorch warns of what it does itself
def test_a_page_about_a_model(name: str, model: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(model)
    run_page(name, model)


@pytest.mark.parametrize("name", REFERENCE)
def test_an_example_of_the_reference(name: str, tmp_path: Path):
    assert run_page(name, tmp_path)


def test_an_rnn_and_a_tree_lstm(tmp_path: Path):
    assert "%loop" in run_page("recurrent_and_tree_models.md", tmp_path)


@pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler")
@pytest.mark.filterwarnings("ignore")
def test_a_pytorch_model_in_a_c_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    printed = run_page("pytorch_to_c.md", tmp_path)
    expected = [float(number) for number in re.findall(r"\d\.\d+", printed[printed.rindex("[[") :])]
    (program,) = blocks("pytorch_to_c.md", "c")
    (tmp_path / "main.c").write_text(program, encoding="utf-8")
    (commands,) = blocks("pytorch_to_c.md", "console")
    script = "".join(f"{line.removeprefix('$ ')}\n" for line in commands.splitlines())
    done = subprocess.run(["sh", "-ec", script], capture_output=True, text=True, check=True)
    assert [float(word) for word in done.stdout.split()] == pytest.approx(expected, abs=1e-3)


def test_the_suites_that_the_page_of_benchmarks_runs():
    (commands,) = blocks("benchmarks.md", "console")
    named = {line.split()[4] for line in commands.splitlines() if re.match(r"\$ python -m benchmarks \w", line)}
    assert named <= {*SUITES, "compare", "commits"}
    rows = re.findall(r"^\| `(\w+)` \|", (DOCS / "benchmarks.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(rows) == {*SUITES, "commits", "ablation"}


def test_every_page_with_code_has_a_test():
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    run = {*re.findall(r'run_page\("([\w/]+\.md)"', tests), *PRINTING, *ABOUT_A_MODEL, *REFERENCE}
    for name, test in CHECKED_BY_THEIR_OWN.items():
        assert name in (ROOT / test).read_text(encoding="utf-8")
    for path in DOCS.rglob("*.md"):
        name = path.relative_to(DOCS).as_posix()
        languages = set(re.findall(r"^```(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        if languages & LANGUAGES_THAT_RUN:
            assert name in run or name in CHECKED_BY_THEIR_OWN, f"no test runs docs/{name}"


def test_links_lead_somewhere():
    for path in DOCS.rglob("*.md"):
        prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)", prose):
            assert (path.parent / link).is_file(), f"docs/{path.relative_to(DOCS)} links to {link}"
