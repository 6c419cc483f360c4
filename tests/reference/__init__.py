"""The slow Python twin of each compiled kernel, written to read like the formula."""
