"""How many labels are wrong, and how surely: a range, or a number with its interval, by what people verified."""
