"""llama.cpp's memory of one sequence: how far back it goes, and the checkpoints that let it.

Never decodes. Counts are tokens from the start of the sequence.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import llama_cpp.llama_cpp as api
import numpy as np

from desktop_app.core.facts import Rollback

SEQUENCE = 0

KEPT_BYTES = 256 * 2**20
"""For the kept checkpoints of one context; the newest is kept even beyond it."""

_PARTIAL = api.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY
"""Copy the running state without what removing tokens can bring back."""


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    count: int
    """Tokens it stands behind."""
    state: np.ndarray
    """llama.cpp's own bytes, shape (size,), uint8."""


class Memory:
    """Nothing leads back until `probe`."""

    def __init__(self, context: int) -> None:
        self.rollback = Rollback.NONE
        self._context = context
        self._memory = api.llama_get_memory(context)
        self._kept: list[_Checkpoint] = []
        self._mark: _Checkpoint | None = None
        self._mark_buffer = np.empty(0, np.uint8)
        self._pass_start = 0

    @property
    def end(self) -> int:
        """Tokens that llama.cpp says it holds."""
        return int(api.llama_memory_seq_pos_max(self._memory, SEQUENCE)) + 1

    @property
    def needs_checkpoints(self) -> bool:
        """Whether there are places to which removing tokens doesn't lead back."""
        return self.rollback in {Rollback.SNAPSHOTS, Rollback.CHECKPOINTS}

    def probe(self, append: Callable[[int], None]) -> None:
        """Find out how to go back, by trying, while nothing is held. `append(n)` decodes n tokens."""
        append(3)
        if self._remove(2):
            # Snapshots are good for one removal a pass.
            self.rollback = Rollback.REMOVAL if self._remove(1) else Rollback.SNAPSHOTS
        else:
            self.clear()
            append(1)
            checkpoint = self._copy(1)
            append(1)
            self.rollback = Rollback.CHECKPOINTS if checkpoint and self._restore(checkpoint) else Rollback.NONE
        self.clear()

    def passed(self, start: int) -> None:
        """A pass that began behind `start` tokens succeeded."""
        self._pass_start = start

    def failed(self, start: int) -> int:
        """A pass that began behind `start` tokens failed: how many are held for certain.

        A running state may have gone half of the way, and nothing tells how far.
        """
        return self.end if self.rollback is Rollback.REMOVAL else self._restore_before(start)

    def mark(self, count: int) -> None:
        """`count` tokens are held, and what follows may have to be taken back. Replaces the mark before."""
        if self.rollback is not Rollback.CHECKPOINTS or count == 0 or self._stands_at(count):
            return
        self._mark = self._copy(count, self._mark_buffer)
        if self._mark is not None:
            self._mark_buffer = self._mark.state

    def keep(self, count: int) -> None:
        """`count` tokens are held, and a later prompt may part from here."""
        if not self.needs_checkpoints or count == 0 or any(each.count == count for each in self._kept):
            return
        checkpoint = self._copy(count)
        if checkpoint is None:
            return
        self._kept.append(checkpoint)
        while len(self._kept) > 1 and sum(each.state.nbytes for each in self._kept) > KEPT_BYTES:
            del self._kept[0]

    def rewind(self, count: int) -> int:
        """Forget every token from `count` on; how many are still held, fewer where only a checkpoint leads back."""
        if count > 0 and self._is_removable(count) and self._remove(count):
            self._pass_start = count
            return count
        return self._restore_before(count)

    def clear(self) -> None:
        api.llama_memory_clear(self._memory, False)
        self._forget_beyond(0)
        self._pass_start = 0

    def _is_removable(self, count: int) -> bool:
        # Snapshots stand behind the tokens of the last pass. llama.cpp also "removes" further back, and then goes on
        # from snapshots that an earlier, longer pass left there (libllama 0.5.0).
        snapshots = self.rollback is Rollback.SNAPSHOTS
        return count > self._pass_start if snapshots else self.rollback is Rollback.REMOVAL

    def _remove(self, count: int) -> bool:
        if not api.llama_memory_seq_rm(self._memory, SEQUENCE, count, -1):
            return False
        self._forget_beyond(count)
        return True

    def _copy(self, count: int, buffer: np.ndarray | None = None) -> _Checkpoint | None:
        """The state behind `count` tokens, in `buffer` where it has the size; None where llama.cpp can't copy it."""
        size = api.llama_state_seq_get_size_ext(self._context, SEQUENCE, _PARTIAL)
        state = buffer if buffer is not None and buffer.size == size else np.empty(size, np.uint8)
        written = api.llama_state_seq_get_data_ext(self._context, _bytes_of(state), size, SEQUENCE, _PARTIAL)
        return _Checkpoint(count, state) if 0 < written == size else None

    def _restore(self, checkpoint: _Checkpoint) -> bool:
        state = checkpoint.state
        read = api.llama_state_seq_set_data_ext(self._context, _bytes_of(state), state.size, SEQUENCE, _PARTIAL)
        # The attention layers of a hybrid are not in the copy: there the tokens behind it are removed.
        return read == state.size and self._remove(checkpoint.count) and self.end == checkpoint.count

    def _restore_before(self, count: int) -> int:
        """Go back to the last checkpoint behind at most `count` tokens, or to the start."""
        checkpoint = max(self._checkpoints(count), key=lambda each: each.count, default=None)
        if checkpoint is None or not self._restore(checkpoint):
            self.clear()
            return 0
        self._pass_start = checkpoint.count
        return checkpoint.count

    def _checkpoints(self, count: int) -> list[_Checkpoint]:
        """Those behind at most `count` tokens."""
        marked = [self._mark] if self._mark else []
        return [each for each in (*self._kept, *marked) if each.count <= count]

    def _stands_at(self, count: int) -> bool:
        return any(each.count == count for each in self._checkpoints(count))

    def _forget_beyond(self, count: int) -> None:
        """What follows `count` tokens will be others: no checkpoint may stand there."""
        self._kept = [each for each in self._kept if each.count <= count]
        if self._mark is not None and self._mark.count > count:
            self._mark = None


def _bytes_of(state: np.ndarray) -> ctypes._Pointer[ctypes.c_uint8]:
    return state.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
