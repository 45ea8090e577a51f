"""The text that hovering a token shows. Everything a model wrote is escaped."""

from __future__ import annotations

from html import escape

from desktop_app.core.answer import Placed
from desktop_app.core.rounds import Kind

UNKNOWN = "–"
LONGEST = 60
"""Characters of a token shown before it is cut."""

MEANING = {
    Kind.ACCEPTED: "drafted, and kept by the target",
    Kind.REJECTED: "drafted, and refused by the target",
    Kind.DISCARDED: "drafted behind a refused token, never judged",
    Kind.CORRECTED: "the target's own, in place of a refused one",
    Kind.BONUS: "the target's own, after a fully accepted draft",
    Kind.PLAIN: "decoded by the target without a draft",
}


def token_tooltip(placed: Placed, href: str = "") -> str:
    """HTML for a token: text, id, kind, probabilities, chance of acceptance, round and place."""
    token = placed.token
    rows = (
        ("text", _quoted(token.text)),
        ("id", f"{token.id}"),
        ("p (target)", _percent(token.p)),
        ("q (draft)", _percent(token.q)),
        ("chance of acceptance", _percent(token.chance)),
        ("round, place", f"{placed.round + 1}, {placed.place + 1}"),
    )
    cells = "".join(f"<tr><td>{name}&nbsp;&nbsp;</td><td>{escape(value)}</td></tr>" for name, value in rows)
    link = f"<div>opens {escape(href[: LONGEST * 2])}</div>" if href else ""
    return f"<div><b>{token.kind.value}</b>: {MEANING[token.kind]}</div><table>{cells}</table>{link}"


def _quoted(text: str) -> str:
    shown = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return '"' + shown.replace("\n", "↵").replace("\r", "↵").replace("\t", "⇥").replace(" ", "␣") + '"'


def _percent(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.4f}" if value >= 0.0001 or value == 0 else f"{value:.1e}"
