"""Records: values whose fields have names, and what their classes define."""
