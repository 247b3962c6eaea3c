"""Evaluation of programs of which a part is known: see `evaluator`. Passes are policies over it."""
