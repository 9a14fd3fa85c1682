"""What the trees have in common: splits with their probabilities, the consensus tree, importances and gain shares."""
