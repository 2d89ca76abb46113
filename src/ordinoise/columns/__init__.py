"""What the columns of a table hold, by the same rules for frames and files, and the columns as numbers."""
