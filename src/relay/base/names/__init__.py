"""Names: fresh, near, late, and what has one."""
