"""From a file to files: the work behind every verb of the command line that reads or writes a table."""
