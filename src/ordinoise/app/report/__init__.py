"""The report: one HTML file that opens from disk and needs no other file."""
