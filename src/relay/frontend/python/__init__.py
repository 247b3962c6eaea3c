"""Python source in: functions, classes with parameters, and data types."""

from relay.frontend.python.callables import ref
from relay.frontend.python.datatype import DataInstance, datatype
from relay.frontend.python.notation import Ref, Tensor, as_type
from relay.frontend.python.reader import PythonFunction, read_function, read_model

__all__ = [
    "DataInstance",
    "PythonFunction",
    "Ref",
    "Tensor",
    "as_type",
    "datatype",
    "read_function",
    "read_model",
    "ref",
]
