"""Watching the optimizer: give `PassContext` any of these, or one of your own."""
