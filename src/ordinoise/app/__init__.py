"""What a person with a file uses: tables, workflow, report, review and the command line."""
