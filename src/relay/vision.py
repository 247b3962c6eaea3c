"""`relay.vision`: operators of detection."""

from relay.ops.vision.nms import all_class_non_max_suppression
from relay.ops.vision.roi_align import roi_align

__all__ = [
    "all_class_non_max_suppression",
    "roi_align",
]
