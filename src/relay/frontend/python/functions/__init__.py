"""Functions in programs: nested ones, decorated ones, methods of models, and calls of all there is."""
