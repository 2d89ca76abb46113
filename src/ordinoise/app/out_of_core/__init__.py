"""The verbs on a folder of Parquet files: larger than memory, and on more than one machine."""
