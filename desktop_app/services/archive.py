"""The chat store on a thread of its own. Callers ask with a function and get its result in the GUI thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.store import ChatStore

Result = TypeVar("Result")

logger = logging.getLogger(__name__)


class Archive(QObject):
    """Runs jobs on the store one after another, in the order asked."""

    failed = Signal(object)  # Problem, of a job that nobody else answers for

    _done = Signal(object)  # a callable for the GUI thread

    def __init__(self, open_store: Callable[[], ChatStore], parent: QObject | None = None) -> None:
        """`open_store` runs on the archive's thread and makes the store there."""
        super().__init__(parent)
        self._done.connect(self._on_done, Qt.ConnectionType.QueuedConnection)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="archive")
        self._opening: Future[ChatStore] = self._thread.submit(open_store)
        self.ask(lambda store: store.opening_problem, self._on_opened)

    def ask(
        self,
        job: Callable[[ChatStore], Result],
        then: Callable[[Result], None] | None = None,
        otherwise: Callable[[Problem], None] | None = None,
    ) -> None:
        """Run `job(store)` on the store's thread, then `then(result)` in the GUI thread.

        When the store or the job raises DraftglassError, `otherwise(problem)` is called there instead, and without it
        `failed` is emitted.
        """
        self._thread.submit(self._run, job, then, otherwise or self.failed.emit)

    def close(self) -> None:
        """Finish what was asked and close the store; blocks. For the end of the app. Asking is over then."""
        self._thread.submit(self._close_store)
        self._thread.shutdown(wait=True)

    def _run(
        self,
        job: Callable[[ChatStore], Result],
        then: Callable[[Result], None] | None,
        otherwise: Callable[[Problem], None],
    ) -> None:
        """On the store's thread."""
        try:
            result = job(self._opening.result())
        except DraftglassError as error:
            problem = error.problem
            self._done.emit(lambda: otherwise(problem))
        except Exception as error:
            # A bug must not vanish in the executor's future, nor leave the caller waiting.
            logger.exception("a job on the chat store failed")
            bug = Problem(f"The chat store failed: {error!r}.", "Please report it with the log.", Blame.BUG)
            self._done.emit(lambda: otherwise(bug))
        else:
            if then is not None:
                self._done.emit(lambda: then(result))

    def _close_store(self) -> None:
        if self._opening.exception() is None:
            self._opening.result().close()

    def _on_opened(self, problem: Problem | None) -> None:
        if problem is not None:
            self.failed.emit(problem)

    def _on_done(self, deliver: Callable[[], None]) -> None:
        deliver()
