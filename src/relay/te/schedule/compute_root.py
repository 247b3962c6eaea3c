"""ComputeRoot: a stage gets a loop nest of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from relay.te.operation import Scan
from relay.te.schedule.step import refused
from relay.te.state import At, AtRoot, State


@dataclass(frozen=True, slots=True)
class ComputeRoot:
    """The whole of `stage` is computed before its consumers start; what every stage does to begin with."""

    stage: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        if isinstance(stage.place, At) and isinstance(state.stage(stage.place.stage).operation, Scan):
            raise refused(f"`{stage.name}` needs earlier rows of scan `{stage.place.stage}`, and stays inside it")
        return state.with_stage(replace(stage, place=AtRoot()))
