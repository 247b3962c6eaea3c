"""PartialEvaluate: see `module`."""

from relay.transform.functions.partial_evaluate.limits import PartialEvaluationLimits
from relay.transform.functions.partial_evaluate.module import PartialEvaluate, partially_evaluated

__all__ = ["PartialEvaluationLimits", "PartialEvaluate", "partially_evaluated"]
