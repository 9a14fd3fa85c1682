"""The file format of posteriors: open, and reading it executes no code."""
