"""AutoBatch: recursive functions over data types, run for all their instances on a level at once."""

from relay.transform.batching.auto_batch import AutoBatch, batched, batching
from relay.transform.batching.list_loops import ListLoop
from relay.transform.batching.recursion import Recursion
from relay.transform.batching.rows import Refusal

__all__ = ["ListLoop", "Recursion", "Refusal", "AutoBatch", "batched", "batching"]
