"""PartialEvaluate: see `module`."""

from relay.transform.partial_evaluate.limits import PartialEvaluationLimits
from relay.transform.partial_evaluate.module import partial_evaluate, partially_evaluated

__all__ = ["PartialEvaluationLimits", "partial_evaluate", "partially_evaluated"]
