"""Schedules: how tensor expressions are turned into loops, as tuples of steps."""

from relay.te.schedule.alternate import Alternate
from relay.te.schedule.bind import Bind
from relay.te.schedule.builder import ScheduleBuilder
from relay.te.schedule.cache_read import CacheRead
from relay.te.schedule.cache_write import CacheWrite
from relay.te.schedule.choice import Choice, Condition, Decision, Variant
from relay.te.schedule.compute_at import ComputeAt
from relay.te.schedule.compute_inline import ComputeInline
from relay.te.schedule.compute_root import ComputeRoot
from relay.te.schedule.double_buffer import DoubleBuffer
from relay.te.schedule.fuse import Fuse
from relay.te.schedule.issue_to import IssueTo
from relay.te.schedule.leave_gap import LeaveGap
from relay.te.schedule.parallel import Parallel
from relay.te.schedule.pragma import Pragma
from relay.te.schedule.prefetch import Prefetch
from relay.te.schedule.prefetch_stores import PrefetchStores
from relay.te.schedule.records import ScheduleRecord, ScheduleRecords
from relay.te.schedule.reduce_together import ReduceTogether
from relay.te.schedule.reorder import Reorder
from relay.te.schedule.rfactor import RFactor
from relay.te.schedule.set_scope import SetScope
from relay.te.schedule.split import Split
from relay.te.schedule.step import Step, apply
from relay.te.schedule.tensorize import Tensorize
from relay.te.schedule.text import STEP_TYPES, parse_steps, print_steps, step_name
from relay.te.schedule.tile import Tile
from relay.te.schedule.unroll import Unroll
from relay.te.schedule.vectorize import Vectorize
from relay.te.schedule.virtual_thread import VirtualThread

__all__ = [
    "STEP_TYPES", "Alternate", "Bind", "CacheRead", "CacheWrite", "Choice", "ComputeAt", "ComputeInline", "ComputeRoot",
    "Condition", "Decision", "DoubleBuffer", "Fuse", "IssueTo", "LeaveGap", "Parallel", "Pragma", "Prefetch",
    "PrefetchStores", "RFactor", "ReduceTogether", "Reorder", "ScheduleBuilder", "ScheduleRecord", "ScheduleRecords",
    "SetScope", "Split", "Step", "Tensorize", "Tile", "Unroll", "Variant", "Vectorize", "VirtualThread", "apply",
    "parse_steps", "print_steps", "step_name",
]  # fmt: skip
