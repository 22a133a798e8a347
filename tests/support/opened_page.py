"""A page in the browser of the tests."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Opened:
    """A page in the browser, and what it did that it should not: what it said, asked for or was refused."""

    tab: Any
    complaints: list[str] = field(default_factory=list)

    def go(self, route: str) -> None:
        """Follow a deep link, as from a message, and wait until it is shown."""
        self.tab.evaluate("route => { location.hash = '#/' + route; }", route)
        self.settled()

    def settled(self) -> None:
        """Wait until what was asked for is on the screen."""
        self.tab.locator("#view:not([aria-busy])").wait_for(state="attached")
        self.tab.wait_for_timeout(60)

    @property
    def text(self) -> str:
        """What is on the screen."""
        return str(self.tab.locator("main").inner_text())
