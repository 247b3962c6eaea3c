"""`relay.nn`: the operators of neural networks."""

from relay.ops.elementwise.activation import (
    bias_add,
    dropout,
    dropout_raw,
    gelu,
    hard_sigmoid,
    hard_swish,
    leaky_relu,
    prelu,
    relu,
    silu,
)
from relay.ops.manipulation.pad import mirror_pad, pad
from relay.ops.manipulation.shape import batch_flatten
from relay.ops.nn.attention import attention
from relay.ops.nn.conv import conv1d, conv2d, conv3d
from relay.ops.nn.conv_backward_weight import (
    conv1d_backward_weight,
    conv2d_backward_weight,
    conv3d_backward_weight,
)
from relay.ops.nn.conv_transpose import conv1d_transpose, conv2d_transpose, conv3d_transpose
from relay.ops.nn.matmul import batch_matmul, contrib_dense_pack, dense, matmul
from relay.ops.nn.norm import batch_norm, group_norm, instance_norm, layer_norm
from relay.ops.nn.norm_vector import l2_normalize, lrn
from relay.ops.nn.pool import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d
from relay.ops.nn.pool_adaptive import (
    adaptive_avg_pool2d,
    adaptive_max_pool2d,
    global_avg_pool2d,
    global_max_pool2d,
)
from relay.ops.nn.pool_backward import (
    contrib_avg_pool_grad,
    contrib_max_pool1d_taps,
    contrib_max_pool2d_taps,
    contrib_max_pool3d_taps,
    contrib_max_pool_grad,
)
from relay.ops.nn.resize import upsampling, upsampling3d
from relay.ops.nn.softmax import log_softmax, softmax
from relay.ops.nn.space_depth import depth_to_space, space_to_depth
from relay.ops.nn.winograd import (
    contrib_conv2d_winograd_weight_transform,
    contrib_conv2d_winograd_without_weight_transform,
)
from relay.ops.nn.words import contrib_conv2d_words, contrib_dense_words, contrib_pack_words

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "attention",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_flatten",
    "batch_matmul",
    "batch_norm",
    "bias_add",
    "contrib_avg_pool_grad",
    "contrib_conv2d_winograd_weight_transform",
    "contrib_conv2d_winograd_without_weight_transform",
    "contrib_conv2d_words",
    "contrib_dense_pack",
    "contrib_dense_words",
    "contrib_max_pool1d_taps",
    "contrib_max_pool2d_taps",
    "contrib_max_pool3d_taps",
    "contrib_max_pool_grad",
    "contrib_pack_words",
    "conv1d",
    "conv1d_backward_weight",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backward_weight",
    "conv2d_transpose",
    "conv3d",
    "conv3d_backward_weight",
    "conv3d_transpose",
    "dense",
    "depth_to_space",
    "dropout",
    "dropout_raw",
    "gelu",
    "global_avg_pool2d",
    "global_max_pool2d",
    "group_norm",
    "hard_sigmoid",
    "hard_swish",
    "instance_norm",
    "l2_normalize",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "lrn",
    "matmul",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mirror_pad",
    "pad",
    "prelu",
    "relu",
    "silu",
    "softmax",
    "space_to_depth",
    "upsampling",
    "upsampling3d",
]
