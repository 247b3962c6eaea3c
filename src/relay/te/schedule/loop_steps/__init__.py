"""Steps that change the loops of a stage."""
