"""What notebooks show: the text of `print`, in which nothing from the data is code."""

import html

import pandas as pd

from particletree import BayesianTreeClassifier


def test_shows_the_text_and_escapes_what_came_from_the_data():
    name, label = "<script>alert(1)</script>", "<b>yes</b>"
    frame = pd.DataFrame({name: [0.0, 1.0, 8.0, 9.0] * 5})
    posterior = BayesianTreeClassifier(random_state=0).fit(frame, ["no & no", "no & no", label, label] * 5).posterior_
    for shown, text in (
        (posterior.consensus_tree(), str(posterior.consensus_tree())),
        (posterior.summary(), str(posterior.summary())),
        (posterior, str(posterior.summary())),
    ):
        markup = shown._repr_html_()
        assert markup == f"<pre>{html.escape(text)}</pre>"
        assert name in text
        assert name not in markup
        assert label not in markup
