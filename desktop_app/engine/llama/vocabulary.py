"""Text to tokens and back, by the model's own vocabulary."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import llama_cpp.llama_cpp as api

_KINDS = {0: "none", 1: "SPM", 2: "BPE", 3: "WPM", 4: "UGM", 5: "RWKV", 6: "PLaMo-2"}
"""`llama_vocab_type` in llama.cpp's words."""


class Vocabulary:
    def __init__(self, model: int) -> None:
        self._vocab = api.llama_model_get_vocab(model)
        self.size = api.llama_vocab_n_tokens(self._vocab)
        kind = api.llama_vocab_type(self._vocab)
        self.kind = _KINDS.get(kind, f"type {kind}")
        self.adds_bos = bool(api.llama_vocab_get_add_bos(self._vocab))
        self.adds_eos = bool(api.llama_vocab_get_add_eos(self._vocab))
        self.bos = api.llama_vocab_bos(self._vocab)
        self.eos = api.llama_vocab_eos(self._vocab)
        self.end_ids = frozenset(filter(self._is_end, range(self.size)))
        self._pieces: dict[int, bytes] = {}

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool = True) -> list[int]:
        data = text.encode("utf-8", errors="replace")
        room = len(data) + 8
        while True:
            tokens = (api.llama_token * room)()
            count = api.llama_tokenize(self._vocab, data, len(data), tokens, room, add_special, parse_special)
            if count >= 0:
                return list(tokens[:count])
            # A vocabulary that spells spaces in bytes needs more tokens than the text has bytes.
            room = -count

    def piece(self, token: int) -> bytes:
        """The bytes that a token adds to the text; control tokens add none."""
        piece = self._pieces.get(token)
        if piece is None:
            piece = self._pieces[token] = b"" if token in self.end_ids else self._read_piece(token, special=False)
        return piece

    def name(self, token: int) -> str:
        """A token as a person reads it, control tokens included."""
        if not 0 <= token < self.size:
            return ""
        return self._read_piece(token, special=True).decode("utf-8", errors="replace")

    def texts(self) -> list[bytes]:
        """Every token's text as the model file spells it, by id."""
        return [api.llama_vocab_get_text(self._vocab, token) for token in range(self.size)]

    def decode(self, tokens: Sequence[int]) -> str:
        """All tokens at once."""
        return b"".join(map(self.piece, tokens)).decode("utf-8", errors="replace")

    def _is_end(self, token: int) -> bool:
        return bool(api.llama_vocab_is_eog(self._vocab, token))

    def _read_piece(self, token: int, *, special: bool) -> bytes:
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            count = api.llama_token_to_piece(self._vocab, token, buffer, room, 0, special)
            if count >= 0:
                return buffer.raw[:count]
            room = -count
