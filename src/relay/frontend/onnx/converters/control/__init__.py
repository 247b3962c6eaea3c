"""Converters of operators with control flow: If, Loop, Scan, recurrent layers, sequences and optionals."""
