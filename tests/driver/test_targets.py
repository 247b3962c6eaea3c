"""Targets as users name them: the worked example, hosts beside targets, and where kernels run."""

from __future__ import annotations

import pytest

import relay
from relay.driver.targets import targets_for
from tests.messages import check_message
from tests.pages import run_page


def test_the_page_runs(tmp_path, capsys):
    run_page("targets.md", tmp_path)
    printed = capsys.readouterr().out
    assert "[[0. 0. 0.]\n [0. 0. 0.]]" in printed
    assert "cpu ('abacus: it has 7 rods, and no beads',)" in printed
    assert "did you mean `abacus`?" in printed
    assert "did you mean `skylake`" in printed
    assert "the target `abacus` failed in `supports`, asked about fused_nn_relu" in printed


def test_a_processor_is_its_own_host():
    targets = targets_for("llvm")
    assert targets.in_order == (targets.kernels,)
    with pytest.raises(relay.RelayError) as caught:
        relay.build(relay.const(1.0), host="llvm -num-threads=1")
    check_message("driver", "host-beside-a-host", caught.value)


@pytest.mark.parametrize("host", [3, b"llvm"])
def test_hosts_are_targets(host):
    with pytest.raises(relay.RelayError, match="what launches the program is not a target"):
        relay.build(relay.const(1.0), host=host)
