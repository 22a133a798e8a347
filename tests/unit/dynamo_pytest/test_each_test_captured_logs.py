"""What pytest captures of logs while a test is looked at."""

import logging
from types import SimpleNamespace

from dynamo_pytest.each_test import keep_trace_from


class Kept(logging.Handler):
    """Keeps the names of the loggers whose records it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the name."""
        self.names.append(record.name)


def test_torchs_trace_is_kept_out_of_captured_logs_and_all_else_is_there() -> None:
    plugin = SimpleNamespace(
        caplog_handler=Kept(), report_handler=Kept(), log_cli_handler=Kept(), log_file_handler=Kept()
    )
    keep_trace_from(plugin)
    for handler in vars(plugin).values():
        for name in ("torch.__trace", "torch._dynamo", "mine"):
            handler.handle(logging.makeLogRecord({"name": name}))
        assert handler.names == ["torch._dynamo", "mine"]


def test_without_pytests_plugin_for_logging_nothing_is_done() -> None:
    keep_trace_from(None)
