"""`torch.compile(…, backend="relay")`."""
