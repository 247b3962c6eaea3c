"""How fast relay is, as ratios to other libraries, interleaved in one run."""
