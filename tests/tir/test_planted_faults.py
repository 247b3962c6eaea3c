"""A slice of the campaign of planted faults; `python -m tests.tir.planted_faults` runs more of it."""

from __future__ import annotations

from random import Random

from relay.tir.verification.verifier import verify
from tests.tir.planted_faults import SAME, campaign, depends_on_order, faults, in_turns, percentage


def test_most_faults_of_threads_are_found():
    planted, found, missed = campaign(range(8), share=0.25)
    assert planted.total() - planted[SAME] > 25
    assert percentage(planted, found) >= 95, [fault.kind for fault in missed]


def test_all_faults_of_queues_are_found_where_only_the_call_knows_how_much_is_issued():
    wrong = [fault for fault in faults(in_turns(Random(1), "core")) if depends_on_order(fault.func)]
    assert {fault.kind for fault in wrong} == {"await dropped", "await moved", "signal dropped"}
    assert [fault.kind for fault in wrong if not verify(fault.func)] == []
