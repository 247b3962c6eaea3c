"""Steps that change stages: where they stand, what computes them, where they are kept."""
