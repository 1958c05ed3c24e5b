"""The picture of README.md, made by the product: ``python -m e2e.screenshot FILE.png``."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from e2e.conftest import chromium_path
from e2e.pages import open_session, sign_in, view
from e2e.running import vitrine

SIZE: ViewportSize = {"width": 1280, "height": 900}
TITLE = "How long will the capacity of checkout-api last?"
MARGIN = 62  # CSS pixels above the prompt: the choice of levels stays in sight there


def compose(page: Page) -> None:
    """The demo's session, settled, from the prompt down to the view's buttons."""
    open_session(page, TITLE)
    page.goto(f"{page.url.partition('?')[0]}?level=minimal")
    expect(view(page).locator("#plan")).to_be_visible()
    expect(page.locator("[data-panel-state=ready]")).to_be_visible()
    page.locator(".row-user").first.evaluate(
        """(prompt, margin) => window.scrollTo({
            top: prompt.getBoundingClientRect().top + window.scrollY - margin, behavior: "instant",
        })""",
        MARGIN,
    )
    page.wait_for_timeout(500)  # the view's size and the fonts come to rest


def main(target: Path) -> None:
    with (
        tempfile.TemporaryDirectory() as data_dir,
        vitrine("demo", Path(data_dir)) as running,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=["--no-sandbox", "--font-render-hinting=none"]
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        sign_in(page, running)
        compose(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
