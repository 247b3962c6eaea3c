"""Hooks of the generator: pages that are mentioned become links, and search works where pages are opened as files."""

from __future__ import annotations

import posixpath
import re
from typing import Any


def on_config(config: Any) -> Any:
    """The plugin `offline` would load from the network what `worker_in_a_frame.js` of the theme does."""
    config.extra["polyfills"] = []
    return config


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001
    """`docs/gradients.md`, as code and docstrings mention it, becomes a link to that page under its title."""
    here = posixpath.dirname(page.file.dest_uri)

    def link(mention: re.Match[str]) -> str:
        file = files.get_file_from_path(mention[1])
        if file is None:
            return mention[0]
        title = file.page.title if file.page is not None and file.page.title else mention[1]
        return f'<a href="{posixpath.relpath(file.dest_uri, here)}">{title}</a>'

    return re.sub(r"<code>docs/([\w/]+\.md)</code>", link, html)
