"""`relay.image`: operators on images."""

from relay.ops.nn.resize import resize2d
from relay.ops.vision.affine_grid import affine_grid
from relay.ops.vision.crop_and_resize import crop_and_resize
from relay.ops.vision.grid_sample import grid_sample

__all__ = [
    "affine_grid",
    "crop_and_resize",
    "grid_sample",
    "resize2d",
]
