"""PartialEvaluate: see `module`."""

from relay.transform.partial_evaluate.limits import PartialEvaluationLimits
from relay.transform.partial_evaluate.module import PartialEvaluate, partially_evaluated

__all__ = ["PartialEvaluationLimits", "PartialEvaluate", "partially_evaluated"]
