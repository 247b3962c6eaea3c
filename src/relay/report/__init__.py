"""A program's profile for other programs and for people: a trace in the Chrome format, and a page of plots."""

from relay.report.page import html_page, write_html
from relay.report.trace import trace_json, write_trace

__all__ = ["html_page", "trace_json", "write_html", "write_trace"]
