"""Converters of ai.onnx.ml and of the training domain: features, linear models, trees, n-grams, optimisers."""
