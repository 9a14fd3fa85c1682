"""What a posterior holds, with the quantities that follow from it, and the checks of its validity."""
