"""The commands for people with files, one module each: `fit`, `predict` and `report`."""
