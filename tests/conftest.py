"""Settings of the test run that no option of pytest has."""

import gc


def pytest_collection_finish():
    """Take what the collection of thousands of tests has made out of the garbage collector's sight: a third of the time.

    It stays until the end, and the collector would go over all of it again and again.
    """
    gc.collect()
    gc.freeze()
