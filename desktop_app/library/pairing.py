"""The verdict on a pair of model files before any weights are loaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from desktop_app.core.pairing import Verdict, VocabFacts, compare
from desktop_app.library.gguf_header import GgufHeader, bad_model
from desktop_app.library.shards import read_model

SAME_FILE_NOTE = "Target and draft are the same file, which is loaded twice and takes its memory twice."

_TYPES: Final = {
    "llama": "SPM",
    "gpt2": "BPE",
    "bert": "WPM",
    "t5": "UGM",
    "rwkv": "RWKV",
}
"""llama.cpp's words for `tokenizer.ggml.model`; others stand for themselves."""

_ADDS_BOS: Final = {"llama": True, "bert": True, "t5": False, "rwkv": False}
_ADDS_EOS: Final = {"llama": False, "bert": False, "t5": True, "rwkv": False}
"""What llama.cpp takes where the key is absent. For BPE it depends on the pre-tokeniser: not known here."""


def header_verdict(target: Path, draft: Path) -> Verdict:
    """Judge a pair from its files' headers. Takes tenths of a second, so keep it off the GUI thread.

    The engine judges again from the loaded models, where nothing is left open. Raises DraftglassError (BAD_MODEL)
    naming the file that cannot be used.
    """
    ours, theirs = read_model(target)[0], read_model(draft)[0]
    verdict = compare(vocab_facts(ours), vocab_facts(theirs))
    if ours.path.samefile(theirs.path):
        return replace(verdict, notes=(*verdict.notes, SAME_FILE_NOTE))
    return verdict


def vocab_facts(header: GgufHeader) -> VocabFacts:
    """The vocabulary of a model's first file. Raises DraftglassError (BAD_MODEL) where it has none.

    `eog_ids` stays open: llama.cpp finds those tokens by their texts, by rules of its own.
    """
    model = header.text("tokenizer.ggml.model")
    if model is None or not header.tokens:
        raise bad_model(header.path, "holds no vocabulary", "Choose a language model.")
    add_bos, add_eos = header.flag("tokenizer.ggml.add_bos_token"), header.flag("tokenizer.ggml.add_eos_token")
    return VocabFacts(
        type=_TYPES.get(model, model),
        tokens=header.tokens,
        add_bos=_ADDS_BOS.get(model) if add_bos is None else add_bos,
        add_eos=_ADDS_EOS.get(model) if add_eos is None else add_eos,
        bos_id=header.integer("tokenizer.ggml.bos_token_id"),
        eos_id=header.integer("tokenizer.ggml.eos_token_id"),
    )
