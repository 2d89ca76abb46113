"""The report: one page that opens from disk, with everything in it."""

from ordinoise.app.report.rendering import report_html, write_report

__all__ = ["report_html", "write_report"]
