"""The version of this package; part of every cache key and manifest."""

VERSION = "0.1.0"
