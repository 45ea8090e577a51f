"""The window's composition root: builds the services and the widgets, connects them, starts and stops them.

Behaviour lives in what is built here.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from desktop_app import __version__
from desktop_app.library import paths
from desktop_app.library.starter import starter_pair
from desktop_app.services.app_log import CrashReporter, log_to_file
from desktop_app.services.archive import Archive
from desktop_app.services.baselines import Baselines
from desktop_app.services.chat_session import ChatSession
from desktop_app.services.comparison import Comparison
from desktop_app.services.context_use import ContextUse
from desktop_app.services.engine_client import EngineClient
from desktop_app.services.engine_use import EngineUse
from desktop_app.services.garbage import GarbageCollector
from desktop_app.services.interrupt import Interrupt
from desktop_app.services.model_shelf import ModelShelf
from desktop_app.services.pair import PairService
from desktop_app.services.settings import SettingsService
from desktop_app.services.single_instance import SingleInstance
from desktop_app.store import ChatStore
from desktop_app.ui.actions import WindowActions
from desktop_app.ui.chats.sidebar import Sidebar
from desktop_app.ui.commands import WindowCommands
from desktop_app.ui.control_style import ControlStyle
from desktop_app.ui.conversation import Conversation
from desktop_app.ui.icons import app_icon
from desktop_app.ui.main_window import MainWindow
from desktop_app.ui.models.model_chooser import ModelChooser
from desktop_app.ui.panel_follower import PanelFollower
from desktop_app.ui.settings.presenter import SettingsPresenter
from desktop_app.ui.speed_panel.speed_panel import SpeedPanel
from desktop_app.ui.status_line import StatusLine
from desktop_app.ui.theme import Appearance
from desktop_app.ui.top_bar import TopBar
from desktop_app.ui.transcript.view import TranscriptView
from desktop_app.ui.window_memory import WindowMemory


@dataclass(frozen=True, slots=True)
class Places:
    """Where a run keeps its files."""

    settings_file: Path
    chats_file: Path
    models_dir: Path
    log_dir: Path

    @classmethod
    def of_user(cls) -> Places:
        return cls.below(paths.config_dir(), paths.data_dir(), paths.log_dir())

    @classmethod
    def below(cls, config_dir: Path, data_dir: Path, log_dir: Path) -> Places:
        return cls(config_dir / "settings.json", data_dir / "chats.sqlite3", paths.models_dir(), log_dir)


class Draftglass(QObject):
    """One window and everything behind it. `window.show()`, then `start`; `stop` at the end."""

    def __init__(self, app: QApplication, places: Places, engine_argv: Sequence[str] | None = None) -> None:
        """`engine_argv` stands in for the app's own engine."""
        super().__init__(app)
        self._garbage = GarbageCollector(self)
        self.settings = SettingsService(places.settings_file, self)
        self.engine = EngineClient(engine_argv, log_path=places.log_dir / "engine.log", parent=self)
        self.pair = PairService(self.engine, self.settings, self)
        self.archive = Archive(lambda: ChatStore.open(places.chats_file), self)
        baselines, use = Baselines(), EngineUse()
        self.session = ChatSession(self.engine, self.pair, self.archive, self.settings, baselines, use, self)
        self.comparison = Comparison(self.engine, self.pair, baselines, use, self)
        self.context = ContextUse(self.engine, self.pair, self.session, self.settings, self)
        self.shelf = ModelShelf(places.models_dir, self)
        self.appearance = Appearance(app, self.settings.current.theme)
        self.window = MainWindow()
        self._models_dir = places.models_dir
        self._build_window()
        for raised in (self.settings.problem_raised, self.session.problem_raised, self.engine.died):
            raised.connect(self.conversation.show_problem)

    def start(self, target: str | None = None, draft: str | None = None) -> None:
        """Everything slow: chats, engine and models. For once the window is on the screen."""
        if self.settings.load_problem is not None:
            self.conversation.show_problem(self.settings.load_problem)
        self.session.restore()
        if target is None and self.pair.target_path is None:
            pair = starter_pair(self._models_dir)
            target, draft = _text(pair.target), draft or _text(pair.draft)
        self.choose(target, draft)
        self._garbage.spare_what_is_there()

    def choose(self, target: str | None, draft: str | None) -> None:
        """Take these files, where given, and load the pair."""
        if target is not None:
            self.pair.choose_pair(target, draft)
        elif draft is not None:
            self.pair.choose_draft(draft)
        else:
            self.pair.load()

    def stop(self) -> None:
        self.session.close()
        self.engine.shutdown()
        self.pair.close()
        self.shelf.close()
        self.archive.close()
        self.settings.flush()
        self.engine.wait_until_stopped()
        self._garbage.close()

    def _build_window(self) -> None:
        window, session, pair = self.window, self.session, self.pair
        ControlStyle(window, self.appearance)
        actions = WindowActions(window)
        top_bar = TopBar(pair, self.appearance, actions)
        sidebar = Sidebar(session, actions)
        self.transcript = TranscriptView(self.appearance, self.settings.current.hidden_kinds)
        self.conversation = Conversation(session, pair, self.context, self.transcript, self.appearance)
        panel = SpeedPanel(self.appearance)
        window.build(
            top_bar=top_bar,
            sidebar=sidebar,
            conversation=self.conversation,
            panel=panel,
            status_line=StatusLine(self.context, pair, self.engine, self.appearance),
        )
        PanelFollower(panel, session, pair)
        memory = WindowMemory(window, self.settings)
        memory.restore()
        self.transcript.hidden_kinds_changed.connect(memory.keep_hidden_kinds)
        chooser = ModelChooser(window, top_bar, pair, self.shelf, self._models_dir)
        self.conversation.model_requested.connect(chooser.ask_for_target)
        commands = WindowCommands(
            actions,
            window,
            session=session,
            pair=pair,
            composer=self.conversation.composer,
            transcript=self.transcript,
            memory=memory,
        )
        settings = SettingsPresenter(
            window, self.settings, self.appearance, pair=pair, shelf=self.shelf, engine=self.engine
        )
        settings.opening.connect(chooser.refresh)
        top_bar.model_settings_requested.connect(settings.open_models)
        actions.search.triggered.connect(sidebar.focus_search)
        actions.choose_target.triggered.connect(chooser.ask_for_target)
        actions.choose_draft.triggered.connect(chooser.ask_for_draft)
        actions.model_settings.triggered.connect(settings.open_models)
        actions.settings.triggered.connect(settings.open)
        actions.quit.triggered.connect(window.close)
        panel.fold_requested.connect(commands.fold_panel)
        self.conversation.composer.setFocus()


def make_application() -> QApplication:
    app = QApplication(["draftglass"])
    app.setApplicationName("Draftglass")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("draftglass")
    app.setWindowIcon(app_icon())
    return app


def main(argv: Sequence[str]) -> int:
    """Show the window until it is closed; returns the exit code."""
    options = _parse(argv)
    app = make_application()
    instance = SingleInstance(_instance_name())
    if not instance.claim(_files(options)):
        return 0
    places = Places.of_user()
    log_to_file(places.log_dir / "window.log")
    reporter = CrashReporter(places.log_dir / "window.log")
    interrupt = Interrupt()
    draftglass = Draftglass(app, places)
    reporter.raised.connect(draftglass.conversation.show_problem)
    interrupt.received.connect(draftglass.window.close)
    instance.second_started.connect(lambda files: _take_over(draftglass, files))
    draftglass.window.first_painted.connect(lambda: draftglass.start(options.target, options.draft))
    draftglass.window.show()
    try:
        return app.exec()
    finally:
        draftglass.stop()
        instance.close()
        interrupt.close()
        reporter.close()


def _instance_name() -> str:
    """One window for each folder of chats."""
    return f"draftglass-{zlib.crc32(str(paths.data_dir()).encode()):08x}"


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="draftglass", description="Chat with local models and watch them speculate.")
    parser.add_argument("--target", metavar="A.gguf", type=_absolute, help="the model that answers")
    parser.add_argument("--draft", metavar="B.gguf", type=_absolute, help="the small model that proposes tokens")
    return parser.parse_args(argv)


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute())


def _text(path: Path | None) -> str | None:
    return str(path) if path else None


def _files(options: argparse.Namespace) -> tuple[str, str]:
    """What a second start passes on to the first window."""
    return options.target or "", options.draft or ""


def _take_over(draftglass: Draftglass, files: tuple[str, ...]) -> None:
    """Another start asked for the window, perhaps with files."""
    window = draftglass.window
    window.showNormal() if window.isMinimized() else window.show()
    window.raise_()
    window.activateWindow()
    target, draft = files
    if target or draft:
        draftglass.choose(target or None, draft or None)
