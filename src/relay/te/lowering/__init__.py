"""From scheduled tensor expressions to loops."""
