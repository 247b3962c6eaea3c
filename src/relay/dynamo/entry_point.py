"""What PyTorch loads the first time that it is asked for `backend="relay"` (entry point `torch_dynamo_backends`).

It is loaded for nothing else, and before Dynamo captures anything: the one moment to let it capture recurrent layers.
"""

from relay.dynamo.compiling import backend, capture_recurrent_layers

capture_recurrent_layers()

__all__ = ["backend"]
