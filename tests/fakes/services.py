"""The services as the app builds them, around a scripted engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from desktop_app.core.errors import Problem
from desktop_app.services.archive import Archive
from desktop_app.services.baselines import Baselines
from desktop_app.services.chat_session import ChatSession
from desktop_app.services.comparison import Comparison
from desktop_app.services.engine_client import EngineClient, Patience
from desktop_app.services.engine_use import EngineUse
from desktop_app.services.pair import Judge, PairService
from desktop_app.services.settings import SettingsService
from desktop_app.store import ChatStore, StoredMessage
from tests.fakes.scripted_engine import Script, argv, journal

TARGET = "/models/target.gguf"
DRAFT = "/models/draft.gguf"


def fits(target: Path, draft: Path) -> Problem | None:
    """A judge who has no objection."""
    del target, draft
    return None


@dataclass(frozen=True, slots=True)
class Services:
    """Everything behind a window, with its files in one folder. `close` at the end, as the app does."""

    folder: Path
    settings: SettingsService
    engine: EngineClient
    pair: PairService
    archive: Archive
    session: ChatSession
    comparison: Comparison

    @classmethod
    def build(
        cls,
        folder: Path,
        script: Script,
        *,
        patience: Patience | None = None,
        judge: Judge = fits,
        target: str | None = TARGET,
        draft: str | None = DRAFT,
    ) -> Services:
        settings = SettingsService(folder / "settings.json")
        settings.apply(replace(settings.current, target_path=target, draft_path=draft))
        script = msgspec.structs.replace(script, journal=str(folder / "journal"))
        engine = EngineClient(argv(script), log_path=folder / "engine.log", patience=patience)
        pair = PairService(engine, settings, judge=judge)
        archive = Archive(lambda: ChatStore.open(folder / "chats.sqlite3"))
        baselines, use = Baselines(), EngineUse()
        session = ChatSession(engine, pair, archive, settings, baselines, use)
        comparison = Comparison(engine, pair, baselines, use)
        return cls(folder, settings, engine, pair, archive, session, comparison)

    def close(self) -> None:
        self.session.close()
        self.engine.wait_until_stopped()
        self.pair.close()
        self.archive.close()
        self.settings.flush()

    @property
    def journal_path(self) -> Path:
        return self.folder / "journal"

    def asked(self) -> list[str]:
        """The commands that engines received, by name."""
        return journal(self.journal_path)

    def stored(self, chat_id: int = 1) -> list[StoredMessage]:
        """The branch as it lies on disk now, read by another connection."""
        store = ChatStore(self.folder / "chats.sqlite3")
        try:
            return store.branch(chat_id)
        finally:
            store.close()
