"""Inline Markdown with positions: markdown-it's own rules, each wrapped so that a token knows its offset.

markdown-it keeps no positions inside a paragraph. Every rule that writes text does so one to one from the place it
starts at, so noting that place is enough.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline, autolink, backtick, emphasis, entity, escape, image, newline
from markdown_it.rules_inline.strikethrough import tokenize as strikethrough
from markdown_it.token import Token

Rule = Callable[[StateInline, bool], bool]
Offset = Callable[[StateInline, int, Token], int]
"""(state after the rule, where the rule began, its token) to the offset of the token's content."""

AT = "at"
"""Key in `Token.meta`: offset of the first character of `content` in the inline text."""


class PlacingState(StateInline):
    """Notes where pending text began."""

    pending_at = 0

    def append_pending(self, text: str) -> None:
        if not self.pending:
            self.pending_at = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:
        token = super().pushPending()
        token.meta[AT] = self.pending_at
        return token


class PlacingParser(ParserInline):
    """Gives every `text`, `text_special` and `code_inline` token its offset, every break the offset of its newline."""

    def __init__(self) -> None:
        super().__init__()
        for name, rule, offset in (
            ("newline", newline, _start),
            ("escape", escape, _escaped),
            ("backticks", backtick, _inside_backticks),
            ("strikethrough", strikethrough, _start),
            ("emphasis", emphasis.tokenize, _start),
            ("entity", entity, _start),
        ):
            self.ruler.at(name, _placed(rule, offset))
        self.ruler.at("autolink", _autolink)
        self.ruler.at("image", _image_as_text)
        # Merging neighbours would lose the offset of the first.
        self.ruler2.disable("fragments_join")

    def parse(self, src: str, md: MarkdownIt, env: MutableMapping[str, Any], tokens: list[Token]) -> list[Token]:
        state = PlacingState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def _placed(rule: Rule, offset: Offset) -> Rule:
    def placed(state: StateInline, silent: bool) -> bool:
        known, start = len(state.tokens), state.pos
        if not rule(state, silent):
            return False
        at = start
        for token in state.tokens[known:] if not silent else ():
            if AT not in token.meta:
                token.meta[AT] = offset(state, at, token)
                at += len(token.content)
        return True

    return placed


def _start(_state: StateInline, start: int, _token: Token) -> int:
    return start


def _escaped(_state: StateInline, start: int, token: Token) -> int:
    if token.type == "hardbreak":
        return start + 1
    return start + len(token.markup) - len(token.content)


def _inside_backticks(state: StateInline, start: int, token: Token) -> int:
    inner = state.pos - start - 2 * len(token.markup)
    stripped = (inner - len(token.content)) // 2
    return start + len(token.markup) + stripped


def _autolink(state: StateInline, silent: bool) -> bool:
    known, start = len(state.tokens), state.pos
    if not autolink(state, silent):
        return False
    for token in state.tokens[known:] if not silent else ():
        if token.type == "text" and AT not in token.meta:
            # The address as written, not as markdown-it beautifies it.
            token.content = state.src[start + 1 : state.pos - 1]
            token.meta[AT] = start + 1
    return True


def _image_as_text(state: StateInline, silent: bool) -> bool:
    """Show the source of an image: nothing is ever loaded, and nothing the model wrote is hidden."""
    start = state.pos
    if not image(state, True):
        return False
    if not silent:
        end, state.pos = state.pos, start
        state.append_pending(state.src[start:end])
        state.pos = end
    return True
