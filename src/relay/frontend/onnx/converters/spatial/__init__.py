"""Converters of what looks at space: convolutions, poolings, resizes, samples of images."""
