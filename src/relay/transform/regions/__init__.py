"""What other compilers take."""
