"""AutoBatch: recursive functions over data types, run for all their instances on a level at once."""

from relay.transform.auto_batch.auto_batch import AutoBatch, batching
from relay.transform.auto_batch.recursion import Recursion
from relay.transform.auto_batch.rows import Refusal

__all__ = ["Recursion", "Refusal", "AutoBatch", "batching"]
