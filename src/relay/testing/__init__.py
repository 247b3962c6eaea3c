"""Well-known networks with seeded parameters: `relay.testing.resnet.get_workload()`."""

from relay.testing import (
    dcgan,
    densenet,
    dqn,
    gpt2,
    inception_v3,
    layers,
    mlp,
    mobilenet,
    resnet,
    squeezenet,
    transformer,
    vgg,
)
from relay.testing.gradient import check_grad
from relay.testing.onnx_models.onnx_form import to_onnx
from relay.testing.passes import run_infer_type, run_opt_pass
from relay.testing.workload import create_workload

__all__ = [
    "check_grad", "create_workload", "dcgan", "densenet", "dqn", "gpt2", "inception_v3", "layers", "mlp", "mobilenet",
    "resnet", "run_infer_type", "run_opt_pass", "squeezenet", "to_onnx", "transformer", "vgg",
]  # fmt: skip
