"""From chat messages to the tokens of a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from desktop_app.core.errors import Blame, DraftglassError, Fault, Problem
from desktop_app.engine.pair import LoadedModel
from desktop_app.protocol.messages import ChatMessage, Role


def prompt_tokens(target: LoadedModel, messages: Sequence[ChatMessage]) -> tuple[int, ...]:
    """Render and tokenise. Raises DraftglassError for an empty, a refused, or an over-long prompt."""
    if not any(message.role is Role.USER and message.content.strip() for message in messages):
        raise DraftglassError(Problem("The message is empty.", "Write something.", Blame.USER, Fault.EMPTY_PROMPT))
    text = target.template.render(messages)
    vocabulary = target.model.vocabulary
    # A template that writes the start token itself must not get a second one.
    writes_bos = vocabulary.bos >= 0 and text.startswith(vocabulary.name(vocabulary.bos))
    tokens = tuple(vocabulary.tokenize(text, add_special=not writes_bos))
    room = target.context.n_ctx
    if len(tokens) >= room:
        raise DraftglassError(
            Problem(
                f"The conversation has {len(tokens):,} tokens; the context holds {room:,}.",
                "Shorten the message, start a new chat, or load the model with a larger context.",
                Blame.USER,
                Fault.PROMPT_TOO_LONG,
            )
        )
    return tokens
