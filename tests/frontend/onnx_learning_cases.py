"""One-node models of ai.onnx.ml, of the training domain, and of what is learnt otherwise: trees, scores, n-grams."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from tests.frontend.onnx_cases import Array, Case, floats, ints, scalar, whole

_ML, _TRAINING = "ai.onnx.ml", "ai.onnx.preview.training"
X = floats(6, 3)


def _tensor(numbers: list[float], dtype: str = "float32") -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(numbers, dtype))


def _ml(operator: str, *inputs: Array, opset: int = 3, outputs: int = 1, name: str = "", **attributes: Any) -> Case:
    return Case(operator, inputs, attributes, opset=opset, outputs=outputs, name=name, domain=_ML)


def _features() -> list[Case]:
    holes = X.copy()
    holes[[0, 3], [1, 2]] = np.nan
    keys = np.array([[3, 1], [7, 9]], np.int64)
    return [
        _ml("ArrayFeatureExtractor", X, ints(2, 0)),
        _ml("ArrayFeatureExtractor", X, ints(1).reshape(1, 1)),
        _ml("Binarizer", X, threshold=0.5),
        _ml("Scaler", X, offset=[0.5, 1.0, -1.0], scale=[2.0, 0.5, 3.0]),
        _ml("Scaler", X, offset=[0.5], scale=[2.0], name="of all"),
        *(_ml("Normalizer", np.abs(X), norm=norm) for norm in ("MAX", "L1", "L2")),
        _ml("Normalizer", X, norm="L2", name="of both signs"),
        _ml("Imputer", holes, imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=float("nan")),
        _ml("Imputer", whole(4, 2, low=0, high=3), imputed_value_int64s=[9], replaced_value_int64=1),
        _ml("OneHotEncoder", ints(3, 9, 7, 4), cats_int64s=[7, 3, 9], zeros=1),
        _ml("LabelEncoder", keys, keys_int64s=[1, 7, 3], values_int64s=[10, 20, 30], default_int64=-5, opset=2),
        _ml("LabelEncoder", keys, keys_int64s=[1, 7, 3], values_floats=[0.1, 0.2, 0.3], default_float=-0.5, opset=2),
        _ml("LabelEncoder", np.array([0.5, np.nan], np.float32), keys_floats=[float("nan"), 2.0],
            values_floats=[1.0, 2.0], default_float=-0.5, opset=4),
    ]  # fmt: skip


def _linear() -> list[Case]:
    rows: dict[str, Any] = {"coefficients": floats(9, seed=3).tolist(), "intercepts": [0.1, -0.2, 0.3]}
    one: dict[str, Any] = {"coefficients": floats(3, seed=3).tolist(), "intercepts": [0.1]}
    return [
        _ml("LinearRegressor", X, targets=3, **rows),
        _ml("LinearRegressor", X, **one),
        *(_ml("LinearClassifier", X, outputs=2, classlabels_ints=[5, 7, 2], post_transform=post, **rows)
          for post in ("NONE", "SOFTMAX", "LOGISTIC")),
        *(_ml("LinearClassifier", X, outputs=2, classlabels_ints=[5, 7], post_transform=post, **one)
          for post in ("NONE", "LOGISTIC")),
    ]  # fmt: skip


_NODES: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_featureids": [0, 2, 0, 0, 0, 1, 0, 0], "nodes_values": [0.1, -0.3, 0.0, 0.0, 0.0, 0.4, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_LT", "LEAF", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 2, 0, 0, 0, 1, 0, 0], "nodes_falsenodeids": [4, 3, 0, 0, 0, 2, 0, 0],
    "nodes_missing_value_tracks_true": [0, 1, 0, 0, 0, 1, 0, 0], "nodes_hitrates": [1.0] * 8,
}  # fmt: skip
"""A tree of five nodes and one of three."""


def _leaves(kind: str, ids: list[int], weights: list[float]) -> dict[str, Any]:
    trees, nodes = [0, 0, 0, 1, 1], [2, 3, 4, 1, 2]
    return {f"{kind}_treeids": trees, f"{kind}_nodeids": nodes, f"{kind}_ids": ids, f"{kind}_weights": weights}


def _trees() -> list[Case]:
    x = np.vstack([X, np.where(np.eye(3) > 0, np.nan, X[:3]).astype(np.float32)])
    said = _leaves("target", [0, 1, 1, 0, 1], [1.5, -2.0, 0.5, 3.0, -1.0])
    three = _leaves("class", [0, 1, 2, 0, 2], [0.3, 0.9, 0.4, 0.2, 0.7])
    both = _leaves("class", [0, 0, 0, 0, 0], [0.3, -0.9, 0.4, 0.2, -0.7])
    positive = _leaves("class", [0, 0, 0, 0, 0], [0.1, 0.4, 0.3, 0.05, 0.35])
    classifier = {"outputs": 2, "classlabels_int64s": [4, 9], **_NODES}
    return [
        *(_ml("TreeEnsembleRegressor", x, aggregate_function=how, n_targets=2, name=how, **said, **_NODES)
          for how in ("SUM", "AVERAGE")),
        *(_ml("TreeEnsembleRegressor", x, aggregate_function=how, n_targets=1, name=how, **_NODES,
              **_leaves("target", [0] * 5, [1.5, -2.0, 0.5, 3.0, -1.0])) for how in ("MIN", "MAX")),
        _ml("TreeEnsembleRegressor", x, n_targets=1, base_values=[10.0], name="base", **_NODES,
            **_leaves("target", [0] * 5, [1.5, -2.0, 0.5, 3.0, -1.0])),
        *(_ml("TreeEnsembleClassifier", x, outputs=2, classlabels_int64s=[4, 9, 1], post_transform=post, **three,
              **_NODES) for post in ("NONE", "SOFTMAX")),
        *(_ml("TreeEnsembleClassifier", x, post_transform=post, name="both signs", **both, **classifier)
          for post in ("NONE", "LOGISTIC")),
        _ml("TreeEnsembleClassifier", x, name="probabilities", **positive, **classifier),
    ]  # fmt: skip


def _ngrams() -> list[Case]:
    grams: dict[str, Any] = {
        "min_gram_length": 1, "max_gram_length": 2, "ngram_counts": [0, 3], "ngram_indexes": [4, 0, 2, 1, 5],
        "pool_int64s": [2, 3, 5, 5, 2, 3, 3],
    }  # fmt: skip
    x = whole(2, 9, low=2, high=5)
    return [
        *(Case("TfIdfVectorizer", (x,), {**grams, "mode": mode, "max_skip_count": skip, "weights": weights}, name=mode)
          for mode, skip, weights in (("TF", 0, [1.0] * 5), ("IDF", 2, [0.5, 2.0, 3.0, 4.0, 5.0]),
                                      ("TFIDF", 1, [0.5, 2.0, 3.0, 4.0, 5.0]))),
    ]  # fmt: skip


def _training() -> list[Case]:
    tensors = [floats(3, 2, seed=seed) for seed in range(4)]
    kept = [np.abs(each) for each in (floats(3, 2, seed=7), floats(4, seed=8))]
    more = [floats(4, seed=seed) for seed in range(4)]
    cases = []
    for count in (0, 3):
        start = (scalar(0.1), scalar(count, "int64"))
        name = f"after {count}"
        cases += [
            Case("Adagrad", (*start, *tensors[:2], kept[0]), {"decay_factor": 0.1}, opset=1, outputs=2, name=name,
                 domain=_TRAINING),
            Case("Adam", (*start, tensors[0], more[0], tensors[1], more[1], tensors[2], more[2], kept[0], kept[1]),
                 {"norm_coefficient": 0.01}, opset=1, outputs=6, name=name, domain=_TRAINING),
            *(Case("Momentum", (*start, *tensors[:3]), {"alpha": 0.9, "beta": 0.8, "mode": mode,
                   "norm_coefficient": 0.01}, opset=1, outputs=2, name=name, domain=_TRAINING)
              for mode in ("standard", "nesterov")),
        ]  # fmt: skip
    return cases


def _updates() -> list[Case]:
    past, update = floats(2, 3, 5, 4), floats(2, 3, 2, 4, seed=1)
    return [
        Case("TensorScatter", (past, update, ints(1, 3)), opset=24),
        Case("TensorScatter", (past, update), opset=24),
        Case("TensorScatter", (past, update, ints(4, 2)), {"mode": "circular", "axis": 2}, opset=24),
        Case("BatchNormalization", (floats(4, 3, 5), floats(3), floats(3, seed=1), floats(3, seed=2),
             np.abs(floats(3, seed=3))), {"training_mode": 1, "momentum": 0.7}, outputs=3),
    ]  # fmt: skip


LEARNING_CASES: tuple[Case, ...] = (*_features(), *_linear(), *_trees(), *_ngrams())
LEARNING_REFERENCE_CASES: tuple[Case, ...] = (
    *_training(), *_updates(),
    Case("TreeEnsemble", (X,), {
        "tree_roots": [0], "n_targets": 2, "nodes_featureids": [0, 1], "nodes_splits": _tensor([0.2, -0.5]),
        "nodes_modes": _tensor([0, 3], "uint8"), "nodes_truenodeids": [1, 1], "nodes_trueleafs": [0, 1],
        "nodes_falsenodeids": [0, 2], "nodes_falseleafs": [1, 1], "leaf_targetids": [0, 1, 1],
        "leaf_weights": _tensor([1.0, 2.0, 3.0]),
    }, opset=5, domain=_ML),
)  # fmt: skip
