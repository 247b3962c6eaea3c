"""What the page about gradients says."""

from tests.pages import run_page


def test_the_page_runs(tmp_path):
    run_page("gradients.md", tmp_path)
