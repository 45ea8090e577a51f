"""A process that is killed in the middle of writing an answer loses nothing that it had stored."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from desktop_app.store import ChatStore, MessageState

_ROOT = Path(__file__).resolve().parents[2]

_WRITER = """
import sys
from pathlib import Path
from desktop_app.core.rounds import Kind, Round, Seconds, Token
from desktop_app.core.settings import AnswerSettings
from desktop_app.store import ChatStore

store = ChatStore(Path(sys.argv[1]))
turn = store.begin_turn(store.create_chat(), None, "Count!", model="Tiny", settings=AnswerSettings())
text = ""
for index in range(1_000_000):
    piece = f"{index} "
    text += piece
    round_ = Round(index, index, 0, (Token(index, piece, Kind.PLAIN),), Seconds(verify=0.01))
    store.append_rounds(turn.answer_id, [round_], text, len(text))
    print(index, flush=True)
"""


@pytest.mark.parametrize("stored", [0, 40, 400])
def test_killed_in_the_middle_of_an_answer(tmp_path: Path, stored: int) -> None:
    path = tmp_path / "chats.db"
    last = _kill_after(path, stored)

    with closing(ChatStore(path)) as store:
        assert store.opening_problem is None
        assert store.repair_interrupted() == 1
        (chat,) = store.chats()
        user, answer = store.branch(chat.id)
    assert (user.text, answer.state) == ("Count!", MessageState.INTERRUPTED)
    rounds = [round_.index for round_ in answer.rounds]
    assert rounds == list(range(len(rounds)))
    assert len(rounds) > last, "everything that was reported as stored is there"
    assert answer.text == answer.answer().text == "".join(f"{index} " for index in rounds)


def _kill_after(path: Path, stored: int) -> int:
    """Kill the writer once it has reported `stored`; the last number that it reported."""
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True, cwd=_ROOT
    ) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) >= stored:
                break
        writer.kill()
        # A line cut in the middle by the kill reports nothing.
        rest = [line for line in writer.stdout if line.endswith("\n")]
    return int(rest[-1]) if rest else stored
