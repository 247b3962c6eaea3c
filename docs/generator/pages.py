"""Hooks of the generator: pages that are mentioned become links, links to sources become text, lines and columns of
tables break where they should, and search works where pages are opened as files."""

from __future__ import annotations

import posixpath
import re
from typing import Any


def on_config(config: Any) -> Any:
    """The plugin `offline` would load from the network what `worker_in_a_frame.js` of the theme does."""
    config.extra["polyfills"] = []
    return config


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001
    """`docs/gradients.md`, as code and docstrings mention it, becomes a link to that page under its title. Links to
    sources, which are not part of the site, become their text. Options such as `--stage` stay on one line, and cells
    of a table that hold sentences are wide enough to be read."""
    here = posixpath.dirname(page.file.dest_uri)

    def mentioned(mention: re.Match[str]) -> str:
        file = files.get_file_from_path(mention[1])
        if file is None:
            return mention[0]
        title = file.page.title if file.page is not None and file.page.title else mention[1]
        return f'<a href="{posixpath.relpath(file.dest_uri, here)}">{title}</a>'

    def within(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, link[1]))
        return link[2] if target.startswith("../") else link[0]

    def prose(cell: re.Match[str]) -> str:
        return f'<td class="prose">{cell[1]}</td>' if len(re.sub("<.*?>", "", cell[1])) > 50 else cell[0]

    def unbroken(code: re.Match[str]) -> str:
        return re.sub(r"[^\s<>]*-[^\s<>]*", lambda word: _unbroken(word[0]), code[0])

    html = re.sub(r"<code>docs/([\w/]+\.md)</code>", mentioned, html)
    html = re.sub(r'<a href="(\.\./[^"]*)">(.*?)</a>', within, html)
    html = re.sub(r"<td>(.*?)</td>", prose, html)
    return re.sub(r"<code>[^<>]*-[^<>]*</code>", unbroken, html)


def _unbroken(word: str) -> str:
    return f'<span class="unbroken">{word}</span>' if len(word) <= 40 else word
