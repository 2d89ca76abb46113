"""The review page as a test sees it in a browser."""

import time
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from browser import PATIENCE_MS

# Colors of text against what lies behind it, by the rule of WCAG; gives the texts that are too faint.
FAINT_TEXTS = """() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (rgb) => rgb.slice(0, 3).map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0.99) return color;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility() || element.closest(":disabled, option, noscript")) continue;
    const [front, back] = [channels(getComputedStyle(element).color), behind(element)].map(luminance);
    const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (contrast < 4.5) faint.push([node.data.trim(), contrast.toFixed(2)]);
  }
  return faint;
}"""

NAMELESS = """() => [...document.querySelectorAll("button, input, select, textarea, img, a")]
  .filter((one) => one.checkVisibility())
  .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.alt || one.labels?.length))
  .map((one) => one.outerHTML)"""


class ReviewPage:
    """One tab of one reviewer."""

    def __init__(self, context: BrowserContext, address: str, reviewer: str = "Ann") -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "console", lambda message: self.complaints.append(message.text) if message.type == "error" else None
        )
        self.page.goto(address)
        self.ready()
        if self.page.locator("#name-dialog").is_visible():
            self.page.fill("#name-field", reviewer)
            self.page.keyboard.press("Enter")
            expect(self.page.locator("#name-dialog")).to_be_hidden()
            expect(self.page.locator("#name-field")).not_to_be_focused()  # keys pressed there are text
            expect(self.page.locator("#reviewer")).to_have_text(reviewer)  # the dialog's close has been handled

    def ready(self) -> None:
        self.page.wait_for_selector("html[data-ready]")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def saved(self) -> None:
        """Wait until the page says that everything is on disk."""
        expect(self.page.locator("#status")).to_have_attribute("data-kind", "saved")

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something to come true outside of the page."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not condition():
            assert time.monotonic() < deadline, "waited in vain"
            self.page.wait_for_timeout(20)

    @property
    def row(self) -> int:
        return int(self.page.inner_text("#row-title").removeprefix("Row "))

    @property
    def status(self) -> str:
        return self.page.inner_text("#status")

    @property
    def is_finished(self) -> bool:
        return self.page.is_visible("#finish")

    def progress(self, words: str) -> None:
        expect(self.page.locator("#progress-text")).to_have_text(words)
