"""Families of schedules: what there is to decide about a kernel, apart from the steps that follow from it.

A family reads a group (`read`: formulas are inlined, which leaves no choice), decides (`te.schedule.space` says how),
and builds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from relay.base.frozen import frozen
from relay.targets.cpu.schedules.plan import Plan
from relay.te.schedule.choice import Choice, Variant
from relay.te.schedule.space import Decider, Space
from relay.te.schedule.step import Step

Read = TypeVar("Read")
Decided = TypeVar("Decided")


@frozen(eq=False)
class Family(Generic[Read, Decided]):
    """One kind of schedule: for which groups it is (`fits`; `when` says it in words), what it reads off a group, what
    it decides, and the steps that it builds. Where the run tells extents, some calls may be better off with others.
    """

    name: str
    when: str
    fits: Callable[[Plan], bool]
    read: Callable[[Plan], Read]
    decide: Callable[[Plan, Read, Decider], Decided]
    build: Callable[[Plan, Read, Decided], None]
    variants: Callable[[Plan], tuple[Variant, ...]] = lambda _: ()
    """What is better for some calls, of this family or another that fits; what it leaves open is decided by the model.
    None where extents are known."""

    def steps(self, plan: Plan) -> tuple[Step, ...]:
        """The schedule by the model."""
        read = self.read(plan)
        self.build(plan, read, self.decide(plan, read, Decider()))
        return plan.steps.steps

    def space(self, plan: Plan) -> KernelSpace:
        """What there is to decide about a group."""
        read = self.read(plan)

        def built(decider: Decider) -> tuple[Step, ...]:
            own = plan.fork()
            self.build(own, read, self.decide(plan, read, decider))
            return own.steps.steps

        return KernelSpace(self.name, self.when, lambda decider: self.decide(plan, read, decider), built)


@frozen(eq=False)
class KernelSpace(Space):
    """All choices that a family has for one group on one machine; each has its steps."""

    built: Callable[[Decider], tuple[Step, ...]]

    def steps(self, choice: Choice) -> tuple[Step, ...]:
        """The schedule that a choice means. Raises what `check` raises."""
        self.check(choice)
        return self.built(Decider(choice.values, strict=True))
