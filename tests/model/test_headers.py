"""Header verdicts on real models."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core.pairing import Verdict
from desktop_app.engine.llama.model import offloadable_layers
from desktop_app.library.models import describe
from desktop_app.library.pairing import header_verdict
from desktop_app.library.starter import is_starter_target

pytestmark = pytest.mark.model


def test_the_starter_pair_fits(starter_target: Path, starter_draft: Path) -> None:
    assert is_starter_target(starter_target)
    assert header_verdict(starter_target, starter_draft) == Verdict(ok=True)
    assert [describe(path).quantisation for path in (starter_target, starter_draft)] == ["Q4_1", "Q2_K"]


def test_the_qwen_pair_fits(qwen_target: Path, qwen_draft: Path) -> None:
    assert header_verdict(qwen_target, qwen_draft) == Verdict(ok=True)
    target = describe(qwen_target)
    assert (target.architecture, target.n_vocab, target.n_layers) == ("qwen2", 151_936, 28)


def test_another_family_does_not_fit(starter_target: Path, qwen_draft: Path, gemma: Path) -> None:
    verdict = header_verdict(starter_target, qwen_draft)
    assert verdict.reason == "the draft has another vocabulary (token 5 differs)"
    assert "“<file_sep>” in the target and “&” in the draft" in verdict.detail
    assert "kind of vocabulary" in header_verdict(starter_target, gemma).reason


def test_llama_cpp_counts_the_layers_as_the_header_does(starter_target: Path) -> None:
    assert offloadable_layers(str(starter_target)) == (describe(starter_target).n_layers or 0) + 1
