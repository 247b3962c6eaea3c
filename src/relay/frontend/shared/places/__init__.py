"""Where elements come from and go to: axes, slices, indices, windows, places between elements."""
