"""What the trees have in common: splits with their probabilities, the consensus tree, importances of the features and their shares of the gain."""
