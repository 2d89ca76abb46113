"""What a verb found, stored as JSON in a folder: audits, ratings, plans of rows, and their history."""
