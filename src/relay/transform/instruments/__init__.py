"""Watching the optimizer: give `PassContext` any of these, or one of your own."""

from relay.transform.instruments.changes import PrintChanges
from relay.transform.instruments.dump import DumpChanges
from relay.transform.instruments.instrument import Instrument
from relay.transform.instruments.node_counts import NodeCounts
from relay.transform.instruments.timing import Timing
from relay.transform.instruments.validation import Validation

__all__ = ["DumpChanges", "Instrument", "NodeCounts", "PrintChanges", "Timing", "Validation"]
