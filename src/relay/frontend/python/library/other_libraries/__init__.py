"""What torch and jax have and NumPy has not, and what to write instead of what programs do not have."""
