"""Answers made of a text: cut into tokens, drafted in rounds with kinds drawn from a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator

from desktop_app.core.answer import Answer
from desktop_app.core.rounds import Kind, Round, Seconds, Token
from desktop_app.core.settings import AnswerSettings
from desktop_app.protocol.messages import Finished, Stop
from desktop_app.services.turn import Turn, TurnState

SECONDS = Seconds(draft=0.002, verify=0.02, sample=0.001, rest=0.0005)
GAMMA = 4
_WRONG = (" val", " the", "\n", " ", "を", "", "\n\n", "<b>")


def rounds_of(text: str, *, seed: int = 1, alpha: float = 0.8) -> Iterator[Round]:
    """Rounds whose emitted tokens spell the text; about one in 1 − `alpha` drafted tokens is refused."""
    rng = random.Random(seed)
    pieces = re.findall(r"\n+| ?\w{1,6}|\s|[^\w\s]", text)
    index = position = 0
    while position < len(pieces):
        tokens: list[Token] = []
        while len(tokens) < GAMMA and position + len(tokens) < len(pieces) - 1 and rng.random() < alpha:
            tokens.append(Token(1, pieces[position + len(tokens)], Kind.ACCEPTED, p=0.9, q=0.8, chance=1.0))
        own = Token(4, pieces[position + len(tokens)], Kind.BONUS, p=0.5)
        position += len(tokens) + 1
        if len(tokens) < GAMMA:
            tokens.append(Token(2, rng.choice(_WRONG), Kind.REJECTED, p=0.01, q=0.4, chance=0.025))
            tokens += [Token(3, " xx", Kind.DISCARDED, q=0.2)] * (GAMMA - len(tokens))
            own = Token(4, own.text, Kind.CORRECTED, p=0.6)
        yield Round(index, position, GAMMA, (*tokens, own), SECONDS)
        index += 1


def round_of(*tokens: tuple[str, Kind], index: int = 0) -> Round:
    """A round as spelt out."""
    drafted = sum(kind in {Kind.ACCEPTED, Kind.REJECTED, Kind.DISCARDED} for _, kind in tokens)
    return Round(index, 0, drafted, tuple(Token(7, text, kind, p=0.5, q=0.25) for text, kind in tokens), SECONDS)


def grow(answer: Answer, round_: Round) -> None:
    """Add a round; all of it is certain to stay."""
    answer.add(round_, len(answer.text) + sum(len(token.text) for token in round_.emitted))


def answer_of(rounds: Iterable[Round]) -> Answer:
    answer = Answer()
    for round_ in rounds:
        grow(answer, round_)
    return answer


def finished_turn(number: int, text: str, *, prompt: str = "Why?", alpha: float = 0.8) -> Turn:
    """A turn that ended by itself; `number` makes its ids."""
    turn = running_turn(number, prompt=prompt)
    turn.answer = answer_of(rounds_of(text, seed=number, alpha=alpha))
    finish(turn)
    return turn


def running_turn(number: int, *, prompt: str = "Why?") -> Turn:
    return Turn(1, 2 * number, 2 * number + 1, prompt, AnswerSettings(), state=TurnState.STREAMING)


def finish(turn: Turn, stop: Stop = Stop.END) -> None:
    turn.state = TurnState.FINISHED
    turn.ending = Finished(1, stop, turn.answer.visible, "", 1, 0.21, 0.2)
