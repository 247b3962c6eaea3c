"""What people look at: programs as drawings of their data flow, and profiles as traces and as pages of plots.

Importing this folder gives programs their look in notebooks; what draws is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING

from relay.base.names.loading import names_when_asked, when_called
from relay.base.shown.printed import Printed

if TYPE_CHECKING:
    from relay.report.dataflow.page import draw
    from relay.report.page import html_page, write_html
    from relay.report.trace import trace_json, write_trace

__all__ = ["draw", "html_page", "trace_json", "write_html", "write_trace"]

__getattr__ = names_when_asked(
    __name__,
    {
        "draw": "relay.report.dataflow.page",
        "html_page": "relay.report.page",
        "trace_json": "relay.report.trace",
        "write_html": "relay.report.page",
        "write_trace": "relay.report.trace",
    },
)

Printed.notebook = when_called("relay.report.notebook", "notebook_html")
