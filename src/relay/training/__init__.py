"""`relay.training`: losses, optimizers and schedules, and steps of training as native programs."""

from relay.training.batches import Batches
from relay.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from relay.training.clipping import ClipByGlobalNorm, ClipByValue, global_norm
from relay.training.compiling import compile_step
from relay.training.curves import draw_curves
from relay.training.fit import EarlyStopping, Training, fit
from relay.training.journal import read_journal
from relay.training.losses import (
    BinaryCrossEntropy,
    BinaryCrossEntropyWithLogits,
    CrossEntropy,
    Huber,
    Loss,
    MeanAbsoluteError,
    MeanSquaredError,
)
from relay.training.optimizers import SGD, Adagrad, Adam, AdamW, Optimizer, PerTensor, RMSProp
from relay.training.scaling import LossScale
from relay.training.schedules import CosineDecay, LinearDecay, StepDecay, Warmup, rate_after
from relay.training.state import TrainingState
from relay.training.step import StepResult, TrainingStep

__all__ = [
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "BinaryCrossEntropy",
    "BinaryCrossEntropyWithLogits",
    "ClipByGlobalNorm",
    "ClipByValue",
    "CosineDecay",
    "CrossEntropy",
    "Huber",
    "LinearDecay",
    "Loss",
    "LossScale",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "Optimizer",
    "PerTensor",
    "RMSProp",
    "StepDecay",
    "StepResult",
    "TrainingState",
    "TrainingStep",
    "Warmup",
    "compile_step",
    "global_norm",
    "rate_after",
    "Batches",
    "Checkpoint",
    "EarlyStopping",
    "Training",
    "draw_curves",
    "fit",
    "load_checkpoint",
    "read_journal",
    "save_checkpoint",
]
