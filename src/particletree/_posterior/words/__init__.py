"""Posteriors in words: summaries and verdicts."""
