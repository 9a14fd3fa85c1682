"""The runs behind a posterior: how they were made, what they recorded, and how far they agree."""
