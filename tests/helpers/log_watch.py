"""Watches the log during a test and judges it afterwards."""

from __future__ import annotations

import logging
import re
from types import TracebackType
from typing import Self

import pytest


class LogWatch(logging.Handler):
    """Collects records from WARNING up. Called with a pattern, it expects a message that the pattern is found in."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._records: list[logging.LogRecord] = []
        self._expected: list[str] = []

    def __call__(self, pattern: str) -> None:
        self._expected.append(pattern)

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)

    def verify(self) -> None:
        """Fail the test on a record nobody expected and on an expectation nothing met."""
        messages = [f"{record.levelname} {record.name}: {record.getMessage()}" for record in self._records]
        unexpected = [text for text in messages if not any(re.search(pattern, text) for pattern in self._expected)]
        missed = [pattern for pattern in self._expected if not any(re.search(pattern, text) for text in messages)]
        if unexpected:
            pytest.fail("unexpected log records:\n  " + "\n  ".join(unexpected), pytrace=False)
        if missed:
            pytest.fail(f"expected in the log, but never came: {missed}", pytrace=False)
