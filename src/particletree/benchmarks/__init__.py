"""Benchmarks: one module a question, each figure a ratio measured in one run."""
