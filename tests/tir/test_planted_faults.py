"""A slice of the campaign of planted faults; `python -m tests.tir.planted_faults` runs more of it."""

from __future__ import annotations

from tests.tir.planted_faults import SAME, campaign, percentage


def test_most_faults_of_threads_are_found():
    planted, found, missed = campaign(range(8), share=0.25)
    assert planted.total() - planted[SAME] > 25
    assert percentage(planted, found) >= 95, [fault.kind for fault in missed]
