"""Which requests wait for the engine, which one runs, and which pair should be in memory. No Qt, sends nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import count

from desktop_app.core.difference import TextPair
from desktop_app.core.settings import AnswerSettings, ModelSettings
from desktop_app.protocol.messages import ChatMessage, Explain, Generate, Load

Question = Generate | Explain
Request = Load | Question


class EngineRequests:
    """Loads go before questions: a question is meant for the pair that was chosen last."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._waiting: deque[Request] = deque()
        self._running: Request | None = None
        self._pair: Load | None = None
        """The load of the pair that should be in memory."""
        self._pair_sent = False
        """Whether the present process was asked for `_pair`."""

    @property
    def running(self) -> Request | None:
        return self._running

    @property
    def any_wait(self) -> bool:
        return bool(self._waiting)

    @property
    def loads(self) -> list[int]:
        """The loads that wait or run."""
        return [request.request for request in (*self._waiting, self._running) if isinstance(request, Load)]

    def next_number(self) -> int:
        """The number of the next request."""
        return next(self._numbers)

    def add_load(self, target: ModelSettings, draft: ModelSettings | None) -> Load:
        load = Load(self.next_number(), target, draft)
        self._pair = load
        self._waiting.appendleft(load)
        return load

    def add_question(self, messages: Sequence[ChatMessage], settings: AnswerSettings) -> Generate:
        question = Generate(self.next_number(), tuple(messages), settings)
        self._waiting.append(question)
        return question

    def add_examination(self, messages: Sequence[ChatMessage], settings: AnswerSettings, texts: TextPair) -> Explain:
        question = Explain(self.next_number(), tuple(messages), settings, texts)
        self._waiting.append(question)
        return question

    def begin_next(self) -> Request | None:
        """The request to send now; None if none waits. A new process is asked for the pair before any question."""
        if not self._waiting:
            return None
        if isinstance(self._waiting[0], Question) and self._pair is not None and not self._pair_sent:
            self._waiting.appendleft(self._pair)
        self._running = self._waiting.popleft()
        self._pair_sent = self._pair_sent or isinstance(self._running, Load)
        return self._running

    def end_running(self) -> Request:
        """The engine has answered the running request; returns it."""
        ended, self._running = self._running, None
        assert ended is not None, "only a running request is answered"
        return ended

    def take_back(self, number: int) -> Request | None:
        """Remove a request that waits; None if that number doesn't."""
        for request in self._waiting:
            if request.request == number:
                self._waiting.remove(request)
                return request
        return None

    def take_stranded(self) -> list[Question]:
        """Remove the questions that wait for a pair which will not come: none is in memory and no load waits."""
        if self._pair is not None:
            return []
        stranded = [request for request in self._waiting if isinstance(request, Question)]
        self._waiting.clear()
        return stranded

    def load_undone(self, load: Load) -> None:
        """That load came to nothing; a later one may wait already."""
        self._pair_sent = False
        if self._pair is load:
            self._pair = None

    def forget_pair(self) -> None:
        self._pair = None

    def process_started(self) -> None:
        """A new process has nothing in memory."""
        self._pair_sent = False

    def drop_all(self) -> None:
        """Forget every request, though not the pair."""
        self._waiting.clear()
        self._running = None
