"""The report: one HTML file that opens from disk and needs no other file."""

from ordinoise.app.report.contents import Findings
from ordinoise.app.report.page import report_html, write_report

__all__ = ["Findings", "report_html", "write_report"]
