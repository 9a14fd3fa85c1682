"""The commands that work on files, one module per command: `fit`, `predict` and `report`."""
