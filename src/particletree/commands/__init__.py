"""The commands for people with files, one module each: `fit` and `predict`."""
