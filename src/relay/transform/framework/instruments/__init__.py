"""Watching the optimizer: give `PassContext` any of these, or one of your own."""

from relay.transform.framework.instruments.changes import PrintChanges
from relay.transform.framework.instruments.dump import DumpChanges
from relay.transform.framework.instruments.instrument import Instrument
from relay.transform.framework.instruments.node_counts import NodeCounts
from relay.transform.framework.instruments.timing import Timing
from relay.transform.framework.instruments.validation import Validation

__all__ = ["DumpChanges", "Instrument", "NodeCounts", "PrintChanges", "Timing", "Validation"]
