"""What programs are written in, and what is made of each: Python, tensor expressions, PyTorch, text."""
