"""The HTML report: its data, the page, styles and scripts; ``report.py`` is the public face."""
