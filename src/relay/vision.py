"""`relay.vision`: operators of detection."""

from relay.ops.vision.nms import all_class_non_max_suppression

__all__ = [
    "all_class_non_max_suppression",
]
