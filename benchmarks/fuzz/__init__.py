"""A seeded fuzzer of the command line: see `python -m benchmarks.fuzz --help`."""
