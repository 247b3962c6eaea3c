"""In which order of axes values lie in memory."""
