"""One module per plot: a function that returns its data, and one that draws them; ``plots.py`` is the public face."""
