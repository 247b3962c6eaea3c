"""Schedules: how tensor expressions are turned into loops, as tuples of steps."""

from relay.te.schedule.builder import ScheduleBuilder
from relay.te.schedule.choice import Choice, Condition, Decision, Variant
from relay.te.schedule.loop_steps.alternate import Alternate
from relay.te.schedule.loop_steps.bind import Bind
from relay.te.schedule.loop_steps.fuse import Fuse
from relay.te.schedule.loop_steps.parallel import Parallel
from relay.te.schedule.loop_steps.pragma import Pragma
from relay.te.schedule.loop_steps.reorder import Reorder
from relay.te.schedule.loop_steps.split import Split
from relay.te.schedule.loop_steps.tile import Tile
from relay.te.schedule.loop_steps.unroll import Unroll
from relay.te.schedule.loop_steps.vectorize import Vectorize
from relay.te.schedule.loop_steps.virtual_thread import VirtualThread
from relay.te.schedule.records import ScheduleRecord, ScheduleRecords
from relay.te.schedule.stage_steps.cache_read import CacheRead
from relay.te.schedule.stage_steps.cache_write import CacheWrite
from relay.te.schedule.stage_steps.compute_at import ComputeAt
from relay.te.schedule.stage_steps.compute_inline import ComputeInline
from relay.te.schedule.stage_steps.compute_root import ComputeRoot
from relay.te.schedule.stage_steps.double_buffer import DoubleBuffer
from relay.te.schedule.stage_steps.issue_to import IssueTo
from relay.te.schedule.stage_steps.leave_gap import LeaveGap
from relay.te.schedule.stage_steps.prefetch import Prefetch
from relay.te.schedule.stage_steps.prefetch_stores import PrefetchStores
from relay.te.schedule.stage_steps.reduce_together import ReduceTogether
from relay.te.schedule.stage_steps.rfactor import RFactor
from relay.te.schedule.stage_steps.set_scope import SetScope
from relay.te.schedule.stage_steps.tensorize import Tensorize
from relay.te.schedule.step import Step, apply
from relay.te.schedule.text import STEP_TYPES, parse_steps, print_steps, step_name

__all__ = [
    "STEP_TYPES", "Alternate", "Bind", "CacheRead", "CacheWrite", "Choice", "ComputeAt", "ComputeInline", "ComputeRoot",
    "Condition", "Decision", "DoubleBuffer", "Fuse", "IssueTo", "LeaveGap", "Parallel", "Pragma", "Prefetch",
    "PrefetchStores", "RFactor", "ReduceTogether", "Reorder", "ScheduleBuilder", "ScheduleRecord", "ScheduleRecords",
    "SetScope", "Split", "Step", "Tensorize", "Tile", "Unroll", "Variant", "Vectorize", "VirtualThread", "apply",
    "parse_steps", "print_steps", "step_name",
]  # fmt: skip
