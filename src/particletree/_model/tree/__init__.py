"""One tree with the names of its features and target: its arrays, its rules as text, its exports."""
