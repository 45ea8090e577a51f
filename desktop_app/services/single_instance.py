"""One window per user: a second start hands its files to the first and goes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

TIMEOUT_MS = 1000
"""The first instance answers from its event loop at once, or it hangs and can't be reached anyhow."""

_ACCEPTED = b"ok\n"


class SingleInstance(QObject):
    """The local socket by which instances find each other. One JSON list a line in, `ok` back."""

    second_started = Signal(object)  # tuple[str, ...]: the arguments of the second start

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        """`name` names the app. Sockets of several users may lie in one folder, so that the home is mixed in."""
        super().__init__(parent)
        self._name = f"{name}-{hashlib.sha256(str(Path.home()).encode()).hexdigest()[:16]}"
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connected)

    def claim(self, arguments: Sequence[str]) -> bool:
        """True if this is the first instance. Else `arguments` have been passed to the first: quit then.

        Blocks for at most about two seconds, before there is a window. Where no socket can be made, every start is a
        first.
        """
        if self._hand_over(arguments):
            return False
        # Nobody answers there: what a crash left in place would keep this instance from listening.
        QLocalServer.removeServer(self._name)
        self._server.listen(self._name)
        return True

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    def _hand_over(self, arguments: Sequence[str]) -> bool:
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(TIMEOUT_MS):
            return False
        socket.write(json.dumps(list(arguments)).encode() + b"\n")
        accepted = socket.waitForReadyRead(TIMEOUT_MS) and bytes(socket.readAll().data()) == _ACCEPTED
        socket.abort()
        return accepted

    def _on_connected(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            visit = _Visit(socket, self)
            visit.announced.connect(self.second_started)


class _Visit(QObject):
    """One connection to the first instance, until the other side goes."""

    announced = Signal(object)  # tuple[str, ...]

    def __init__(self, socket: QLocalSocket, parent: QObject) -> None:
        super().__init__(parent)
        self._socket = socket
        socket.setParent(self)
        socket.readyRead.connect(self._on_received)
        socket.disconnected.connect(self.deleteLater)

    def _on_received(self) -> None:
        if not self._socket.canReadLine():
            return
        arguments = _arguments(bytes(self._socket.readLine().data()))
        if arguments is None:
            self._socket.abort()
            return
        self._socket.write(_ACCEPTED)
        self._socket.flush()
        self.announced.emit(arguments)


def _arguments(line: bytes) -> tuple[str, ...] | None:
    """What a second start sent, or None if that was somebody else."""
    try:
        sent = json.loads(line)
    except ValueError:
        return None
    return tuple(sent) if isinstance(sent, list) and all(isinstance(part, str) for part in sent) else None
