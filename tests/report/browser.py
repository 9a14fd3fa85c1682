"""A headless Chromium, and the page of a report in it."""

import json
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --force-prefers-reduced-motion "
    "--window-size=1280,900"
)


@contextmanager
def open_browser():
    """Open a browser with a fresh profile; the test is skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="pages are tested with selenium")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("there is no chromium with chromedriver here")
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        try:
            yield driver
        finally:
            driver.quit()


class Page:
    """A report in the browser."""

    def __init__(self, driver, path: Path):
        self.driver = driver
        driver.get_log("browser")
        driver.get_log("performance")
        driver.get(path.as_uri())

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def find_all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def click(self, selector):
        """Click the first element by the pointer, in the middle of the window, where nothing covers it."""
        found = self.find(selector)
        self.run("arguments[0].scrollIntoView({ block: 'center' })", found)
        found.click()

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def press(self, *keys):
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            ActionChains(self.driver).send_keys(getattr(Keys, key)).perform()

    def console(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Return the addresses that the page asked for, other than its own file."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        by_pages = [each for each in asked if not each["documentURL"].startswith("chrome:")]  # not by an empty tab
        sent = [each["request"]["url"] for each in by_pages]
        loaded = self.run("return performance.getEntriesByType('resource').map((each) => each.name)")
        return [url for url in [*sent, *loaded] if url != self.driver.current_url.split("#")[0]]

    def enter(self, posterior, row):
        """Type a row into the form, as a reader would: numbers as text, levels chosen by their names."""
        for feature, value in enumerate(row):
            levels = posterior.columns.levels.get(feature)
            if levels is None:
                text = "" if value is None or np.isnan(value) else repr(float(value))
            else:
                is_missing = value is None or value != value
                number = len(levels) if is_missing else (levels.index(value) if value in levels else len(levels) + 1)
                text = str(number)
            self.run(
                "const field = document.getElementById(arguments[0]); field.value = arguments[1];"
                "field.dispatchEvent(new Event('input', { bubbles: true }))",
                f"row-{feature}",
                text,
            )

    def outputs(self, *parts):
        """Return what the page predicts, by output: value, and the other parts that are asked for."""
        script = (
            "return [...document.querySelectorAll('.prediction [data-output]')].map((each) => ({ ...each.dataset }))"
        )
        found = sorted(self.run(script), key=lambda each: int(each["output"]))
        return np.array([[float(each[part]) for part in ("value", *parts)] for each in found])
