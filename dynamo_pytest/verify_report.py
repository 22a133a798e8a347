"""Says at the end of --dynamo-verify how many calls of the tests were compared with plain Python."""

from collections import Counter
from collections.abc import Mapping

import pytest

from dynamo_core.analysis.verification import verification
from dynamo_core.analysis.words import number
from dynamo_core.model import Recording
from dynamo_core.shared.errors import NotMeasured

from .outcome import outcome_in

_AGREES, _WRONG = "agrees", "wrong"


def compared_calls(recording: Recording) -> Mapping[str, int]:
    """The calls of one test by what came of them: that it agrees, is wrong, or why it was not compared."""
    found = verification(recording)
    if found is None:
        return {}
    reasons = [each.call.why or "no reason recorded" for each in found.calls_not_compared]
    known = {_AGREES: len(found.agreeing_calls), _WRONG: len(found.wrong_calls)}
    return {**Counter(reasons), **{what: count for what, count in known.items() if count}}


class VerifyReport:
    """Adds up the calls of all tests; fails a session in which nothing could be compared."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the calls of a test, passed or failed."""
        outcome = outcome_in(report)
        if outcome is not None:
            self._calls.update(outcome.compared)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """What was not compared is not right."""
        if not self._compared and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = NotMeasured.exit_code

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line."""
        terminalreporter.write_line(f"dynamo: {self._sentence()}")

    @property
    def _compared(self) -> int:
        return self._calls[_AGREES] + self._calls[_WRONG]

    def _sentence(self) -> str:
        wrong = self._calls[_WRONG]
        text = "no call of what is compiled was compared with plain Python"
        if self._compared:
            outcome = f"{wrong} wrong" if wrong else "none wrong"
            text = f"{number(self._compared, 'call')} compared with plain Python, {outcome}"
        reasons = [
            f"{number(count, 'call')}: {why}"
            for why, count in self._calls.items()
            if why not in (_AGREES, _WRONG)
        ]
        return f"{text}; not compared: {'; '.join(reasons)}" if reasons else text
