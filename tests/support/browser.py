"""Pages in a real browser, Debian's Chromium without a window: what it says, asks for, and how wide it is."""

import base64
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pytest

UNFOLD = "document.querySelectorAll('details').forEach(part => part.open = true)"
"""Opens all that is folded."""
LETTERS = """
return [...document.querySelectorAll('svg text')].filter(text => text.checkVisibility()).map(text => {
  const shape = text.getScreenCTM();
  return Math.sqrt(Math.abs(shape.a * shape.d - shape.b * shape.c)) * parseFloat(getComputedStyle(text).fontSize);
})
"""
"""How large the letters of pictures are, in pixels."""
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")


class Visit(NamedTuple):
    """What happened while a page was opened."""

    messages: list[str]
    """Warnings and errors of the console."""
    requests: list[str]
    """All that was asked for, without what the page holds itself (data:)."""
    width: int
    """Of the page: more than that of the window if it scrolls to the side."""
    colours: tuple[str, str]
    """Of the background and the text."""


class Browser:
    """One window."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def visit(self, page: Path | str, *, theme: str = "light", width: int = 1000, media: str = "screen") -> Visit:
        """Opens a file, or an address, as a reader with this theme ("light" or "dark") and width of window sees it."""
        address = page.resolve().as_uri() if isinstance(page, Path) else page
        themes = [{"name": "prefers-color-scheme", "value": theme}]
        self._do("Emulation.setEmulatedMedia", media=media, features=themes)
        shape = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        self._do("Emulation.setDeviceMetricsOverride", **shape)
        for log in ("browser", "performance"):
            self.driver.get_log(log)  # empties it
        self.driver.get(address)
        style = "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
        background, text = self.driver.execute_script(style)
        return Visit(
            [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")],
            list(self._requests()),
            self.driver.execute_script("return document.documentElement.scrollWidth"),
            (background, text),
        )

    def screenshot(self, path: Path) -> None:
        """Of the whole page."""
        size = self._do("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        path.write_bytes(
            base64.b64decode(self._do("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"])
        )

    def pdf(self) -> bytes:
        """The page as it prints."""
        return base64.b64decode(self._do("Page.printToPDF")["data"])

    def violations(self) -> list[str]:
        """What axe-core has against the page as it is shown now: the rule, the first elements, what is wrong there."""
        self.driver.set_script_timeout(120)  # seconds, for a page of hundreds of pictures
        self.run(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        found = self.driver.execute_async_script(
            "axe.run({resultTypes: ['violations']}).then(arguments[0], e => arguments[0]({error: String(e)}))"
        )
        assert "error" not in found, found["error"]
        return [
            f"{one['id']} ({len(one['nodes'])} times): {node['target']} {node['failureSummary']}"
            for one in found["violations"]
            for node in one["nodes"][:3]
        ]

    def click(self, selector: str) -> None:
        """The first element that fits, as a reader's mouse does."""
        self.driver.find_element("css selector", selector).click()

    def wait_until(self, condition: str, seconds: float = 10.0) -> None:
        """Until this expression is true in the page."""
        from selenium.webdriver.support.wait import WebDriverWait

        WebDriverWait(self.driver, seconds, 0.05).until(lambda driver: driver.execute_script(f"return {condition}"))

    def run(self, script: str) -> Any:
        return self.driver.execute_script(script)

    def _do(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)

    def _requests(self) -> Iterator[str]:
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                address = message["params"]["request"]["url"]
                if not address.startswith("data:"):
                    yield address


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Skips the test where there is no Chromium, but not in continuous integration, where there must be."""
    driver, program = shutil.which("chromedriver"), shutil.which("chromium")
    if driver is None or program is None:
        missing = "chromedriver and chromium (Debian's chromium-driver) are not installed"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    window = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield Browser(window)
    finally:
        window.quit()
