"""The page that builds a small Relay: all of it runs, and it is as long as it says."""

import ast
import io
import re
import tokenize

from tests.pages import DOCS, blocks, run_page

PAGE = (DOCS / "relay_from_scratch.md").read_text(encoding="utf-8")
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def lines_of_code(text: str) -> int:
    """Lines of the text's program blocks (not of its checks) that hold code: no comments and no docstrings."""
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    code = "\n".join(block for block in blocks if not block.startswith("# Check"))
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    lines = {line for each in tokens if each.type not in LAYOUT for line in range(each.start[0], each.end[0] + 1)}
    for each in ast.walk(ast.parse(code)):
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str):
            lines -= set(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    return len(lines)


def test_the_page_runs_and_native_code_is_measured(tmp_path, capsys):
    run_page("relay_from_scratch.md", tmp_path)
    printed = capsys.readouterr().out
    assert "let %v_2 = multiply(%h, 2f);" in printed
    for way in ("interpreter", "fused, interpreted", "fused, native"):
        assert re.search(rf"^{way} +[\d.]+ ms +[\d.]+ times as fast$", printed, re.MULTILINE)


def test_the_page_says_how_long_its_program_is():
    before, gradients, after = re.split(r"^(?=## 9\. |## 10\. )", PAGE, flags=re.MULTILINE)
    stated = re.search(r"a small Relay in (\d+) lines.*?(\d+)\smore\slines", PAGE, re.DOTALL)
    assert stated
    assert (lines_of_code(before), lines_of_code(gradients)) == tuple(map(int, stated.groups()))
    assert lines_of_code(after) == 0


def test_the_program_stays_small_and_its_lines_short():
    before, _ = PAGE.split("## 9. ")
    assert lines_of_code(before) <= 600
    code = "".join(blocks("relay_from_scratch.md", "python"))
    assert [line for line in code.splitlines() if len(line) > 100] == []


def test_the_files_that_the_page_points_at_exist():
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE)
    assert targets
    assert [each for each in targets if not (DOCS / each).exists()] == []
