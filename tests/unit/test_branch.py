"""From turns to the engine's prompt."""

from __future__ import annotations

from desktop_app.core.answer import Answer
from desktop_app.core.settings import AnswerSettings
from desktop_app.services.branch import kept_from, prompt_of
from desktop_app.services.turn import Turn


def turn(prompt: str, answer: str, visible: int | None = None) -> Turn:
    shown = len(answer) if visible is None else visible
    return Turn(1, 2, 3, prompt, AnswerSettings(), answer=Answer(text=answer, visible=shown))


def said(*turns: Turn, text: str = "now", system: str = "") -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in prompt_of(turns, text, system)]


def test_a_first_message_stands_alone() -> None:
    assert said() == [("user", "now")]


def test_questions_and_answers_take_turns() -> None:
    assert said(turn("a", "b"), turn("c", "d")) == [
        ("user", "a"),
        ("assistant", "b"),
        ("user", "c"),
        ("assistant", "d"),
        ("user", "now"),
    ]


def test_a_system_prompt_comes_first_unless_it_is_blank() -> None:
    assert said(system="Be brief.")[0] == ("system", "Be brief.")
    assert said(system=" \n") == [("user", "now")]


def test_only_the_shown_text_of_an_answer_counts() -> None:
    assert said(turn("a", "bSTOP", 1))[1] == ("assistant", "b")


def test_questions_around_an_empty_answer_become_one() -> None:
    assert said(turn("a", ""), turn("b", "")) == [("user", "a\n\nb\n\nnow")]
    assert said(turn("a", "x"), turn("b", "")) == [("user", "a"), ("assistant", "x"), ("user", "b\n\nnow")]


def test_what_is_kept_begins_behind_the_turns_left_out() -> None:
    turns = [turn("a", "b"), turn("c", "d"), turn("e", "f")]
    assert [kept_from(turns, left_out) for left_out in range(5)] == [0, 1, 2, 3, 3]


def test_questions_that_became_one_message_are_left_out_together() -> None:
    turns = [turn("a", ""), turn("b", "c"), turn("d", ""), turn("e", "")]
    assert [message.content for message in prompt_of(turns, "now", "")] == ["a\n\nb", "c", "d\n\ne\n\nnow"]
    assert [kept_from(turns, left_out) for left_out in (0, 1)] == [0, 2]
