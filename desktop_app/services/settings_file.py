"""The settings file: JSON with a version, brought up to date by numbered migrations. No Qt."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import msgspec

from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.core.rounds import Kind
from desktop_app.core.settings import GAMMA_MAX, AnswerSettings, LoadSettings


class Theme(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the app remembers apart from chats."""

    target_path: str | None = None
    draft_path: str | None = None
    loading: dict[str, LoadSettings] = field(default_factory=dict)
    """How to load a model, by its path; one that is not here is loaded by the defaults."""
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    system_prompt: str = ""
    theme: Theme = Theme.SYSTEM
    window_geometry: bytes = b""
    """As `QWidget.saveGeometry` returns it."""
    column_widths: tuple[int, ...] = ()
    """Chats, conversation, speed panel, in device-independent pixels; empty for the widths the window chooses."""
    panel_folded: bool = False
    hidden_kinds: frozenset[Kind] = frozenset({Kind.DISCARDED})
    last_chat_id: int | None = None

    def loading_of(self, path: str) -> LoadSettings:
        return self.loading.get(path, LoadSettings())

    def with_loading(self, path: str, how: LoadSettings) -> Settings:
        """The same, with this model loaded like that."""
        others = {other: own for other, own in self.loading.items() if other != path}
        return replace(self, loading=others if how == LoadSettings() else {**others, path: how})


Migration = Callable[[dict[str, Any]], dict[str, Any]]


def _loading_by_model(old: dict[str, Any]) -> dict[str, Any]:
    """Context, layers and threads were the same for every model; those that are chosen keep them."""
    how = {key: old[key] for key in ("n_ctx", "gpu_layers", "threads") if key in old}
    chosen = (old.get("target_path"), old.get("draft_path"))
    others = {key: value for key, value in old.items() if key not in how}
    return {**others, "loading": {path: how for path in chosen if path is not None and how}}


MIGRATIONS: Final[tuple[Migration, ...]] = (_loading_by_model,)
"""Migration n makes version n + 2 from version n + 1, on the plain JSON object. A released one is never edited."""


class _Stamp(msgspec.Struct):
    version: int


class UnreadableSettings(DraftglassError):
    """The file holds no settings that this version understands."""


def encode(settings: Settings, version: int = len(MIGRATIONS) + 1) -> bytes:
    """The file's content, laid out for human readers."""
    body = {"version": version, **msgspec.to_builtins(settings, order="deterministic")}
    return msgspec.json.format(msgspec.json.encode(body))


def decode(content: bytes, migrations: Sequence[Migration] = MIGRATIONS) -> Settings:
    """Settings from any version's file; what is missing takes its default. Raises UnreadableSettings."""
    newest = len(migrations) + 1
    try:
        version = msgspec.json.decode(content, type=_Stamp).version
        if not 1 <= version <= newest:
            raise _unreadable(f"it has version {version}, this Draftglass knows 1 to {newest}")
        plain = msgspec.json.decode(content)
        for migration in migrations[version - 1 :]:
            plain = migration(plain)
        return _within_limits(msgspec.convert(plain, Settings))
    except msgspec.MsgspecError as error:
        raise _unreadable(str(error)) from error


def read(path: Path) -> tuple[Settings, Problem | None]:
    """The settings in the file, or defaults; a file that can't be used is set aside and the Problem says where."""
    try:
        return decode(path.read_bytes()), None
    except FileNotFoundError:
        return Settings(), None
    except OSError as error:
        return Settings(), Problem(
            f"The settings could not be read: {error.strerror or error}.",
            f"Check the permissions of {path.parent}; defaults apply until then.",
            Blame.ENVIRONMENT,
        )
    except UnreadableSettings as error:
        return Settings(), _set_aside(path, error.problem)


def write(path: Path, settings: Settings) -> None:
    """Replace the file in one step, so that a crash leaves the old or the new one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(encode(settings))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _set_aside(path: Path, reason: Problem) -> Problem:
    aside = path.with_name(f"{path.name}.unreadable")
    try:
        path.replace(aside)
    except OSError as error:
        hint = f"It could not be set aside either: {error.strerror or error}."
        return Problem(reason.message, hint, Blame.ENVIRONMENT)
    return Problem(reason.message, f"Defaults apply; the old file is kept as {aside.name}.", Blame.ENVIRONMENT)


def _unreadable(reason: str) -> UnreadableSettings:
    return UnreadableSettings(Problem(f"The settings file can't be used: {reason}.", blame=Blame.ENVIRONMENT))


def _within_limits(settings: Settings) -> Settings:
    """A γ edited by hand must not reach the engine out of range."""
    speculation = settings.answer.speculation
    if speculation.gamma is None or 1 <= speculation.gamma <= GAMMA_MAX:
        return settings
    gamma = min(max(speculation.gamma, 1), GAMMA_MAX)
    return replace(settings, answer=replace(settings.answer, speculation=replace(speculation, gamma=gamma)))
