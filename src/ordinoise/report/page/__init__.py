"""The report: one page that opens from disk, with everything in it."""

from ordinoise.report.page.rendering import report_html, write_report

__all__ = ["report_html", "write_report"]
