"""Posteriors in the formats of other tools."""
