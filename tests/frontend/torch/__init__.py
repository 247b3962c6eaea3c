"""Models of PyTorch, imported and compared with eager."""
