"""Programs as people write them in Python, with inputs to run them on."""
