"""Settings of the test run that no option of pytest has."""

import gc


def pytest_collection_finish():
    """Exclude the collected tests from garbage collection, which takes up to a third of the time of a run.

    They stay until the end, and the collector would visit all of their objects again and again.
    """
    gc.collect()
    gc.freeze()
