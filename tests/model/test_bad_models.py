"""Files that are no model, pairs that do not fit, broken templates: each is named and costs no more than it must."""

from __future__ import annotations

from pathlib import Path

import llama_cpp.llama_cpp as api
import pytest

from desktop_app.core.errors import Blame, DraftglassError, Fault
from desktop_app.core.settings import AnswerSettings
from desktop_app.engine import pair as pair_module
from desktop_app.engine.drafters.model import ModelDrafter
from desktop_app.engine.llama.abort import AbortFlag
from desktop_app.engine.llama.context import Aborted
from desktop_app.engine.llama.model import LoadAborted
from desktop_app.engine.pair import Pair
from desktop_app.protocol.messages import ChatMessage, Role
from tests.fakes.tiny_models import TOKENS, truncate, write_llama
from tests.helpers.log_watch import LogWatch
from tests.model.helpers import GREEDY, PLAIN, loaded, run_answer, settings_for, speculating, user

pytestmark = pytest.mark.model

SHORT = AnswerSettings(GREEDY, PLAIN, 8)
ON = AnswerSettings(GREEDY, speculating(4), 32)
LLAMA_COMPLAINS = "engine.llama.backend: "


def broken(kind: str, folder: Path) -> Path:
    whole = write_llama(folder / "whole.gguf")
    path = folder / "broken.gguf"
    match kind:
        case "empty":
            path.touch()
        case "no model":
            path.write_bytes(b"PK\x03\x04 this is a zip file" * 100)
        case "half a header":
            truncate(whole, path, keep=0.02)
        case "half the weights":
            truncate(whole, path, keep=0.6)
        case "an unknown architecture":
            path.write_bytes(whole.read_bytes().replace(b"llama", b"lahma"))
        case "a missing tensor":
            path.write_bytes(whole.read_bytes().replace(b"blk.1.attn_q.weight", b"blk.1.attn_x.weight"))
        case "a folder":
            path.mkdir()
    return path


KINDS = ("absent", "empty", "no model", "half a header", "half the weights", "an unknown architecture",
         "a missing tensor", "a folder")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_target_is_refused_by_name(kind: str, tmp_path: Path, expect_log: LogWatch) -> None:
    path = broken(kind, tmp_path)
    if kind not in {"absent", "a folder"}:
        expect_log(LLAMA_COMPLAINS)

    with pytest.raises(DraftglassError) as caught, loaded(path):
        pass

    problem = caught.value.problem
    assert problem.fault is Fault.BAD_MODEL
    assert problem.blame is Blame.USER
    assert "broken.gguf" in problem.message
    assert "gave no reason" not in problem.message
    assert problem.hint


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_draft_costs_speculation_only(kind: str, tmp_path: Path, expect_log: LogWatch) -> None:
    path = broken(kind, tmp_path)
    if kind not in {"absent", "a folder"}:
        expect_log(LLAMA_COMPLAINS)

    with loaded(tmp_path / "whole.gguf", path) as pair:
        reply = run_answer(pair, "hello", ON)

        assert pair.draft_problem is not None
        assert "broken.gguf" in pair.draft_problem.message
        assert reply.finished.speculation_problem == pair.draft_problem
        assert len(reply.ids) == 32


def test_a_target_that_fails_leaves_nothing_loaded_and_the_next_one_loads(tmp_path: Path, expect_log: LogWatch) -> None:
    whole = write_llama(tmp_path / "whole.gguf")
    expect_log(LLAMA_COMPLAINS)
    with loaded(whole) as pair:
        with pytest.raises(DraftglassError):
            pair.load(settings_for(truncate(whole, tmp_path / "half.gguf", keep=0.5)), None, lambda _part, _at: None)
        assert pair.target is None

        pair.load(settings_for(whole), None, lambda _part, _at: None)
        assert run_answer(pair, "hello", SHORT).ids


def test_cancelling_where_the_context_is_made_stops_the_load(tmp_path: Path) -> None:
    flag = AbortFlag()
    pair = Pair(flag)

    def cancel_at_the_end(_part: object, fraction: float) -> None:
        if fraction >= 1:
            flag.set()

    with pytest.raises((Aborted, LoadAborted)):
        pair.load(settings_for(write_llama(tmp_path / "whole.gguf")), None, cancel_at_the_end)
    flag.clear()
    assert pair.target is None
    pair.load(settings_for(tmp_path / "whole.gguf"), None, lambda _part, _at: None)
    assert run_answer(pair, "hello", SHORT).ids
    pair.unload()


def test_a_model_whose_loading_ends_in_an_error_is_freed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[int] = []
    monkeypatch.setattr(api, "llama_model_free", freed.append)

    def no_memory(_model: object) -> None:
        raise MemoryError

    monkeypatch.setattr(pair_module, "ChatTemplate", no_memory)

    with pytest.raises(MemoryError), loaded(write_llama(tmp_path / "whole.gguf")):
        pass
    assert len(freed) == 1


class TestVocabularies:
    def test_another_family_is_refused_by_its_first_differing_token(
        self, starter_target: Path, qwen_draft: Path, expect_log: LogWatch
    ) -> None:
        expect_log("control-looking token")
        with loaded(starter_target, qwen_draft) as pair:
            problem = pair.draft_problem
            assert problem is not None
            assert problem.fault is Fault.VOCABULARY
            assert problem.message == "The draft has another vocabulary (token 5 differs)."

            reply = run_answer(pair, "Hello!", AnswerSettings(GREEDY, speculating(4), 16))
            assert reply.finished.speculation_problem == problem
            assert len(reply.ids) == 16

    @pytest.mark.parametrize("at", [5, 100, len(TOKENS) - 1])
    def test_one_token_is_enough(self, tmp_path: Path, at: int) -> None:
        tokens = [*TOKENS[:at], "strange", *TOKENS[at + 1 :]]
        target = write_llama(tmp_path / "target.gguf")
        with loaded(target, write_llama(tmp_path / "draft.gguf", tokens=tokens)) as pair:
            assert pair.draft is None
            assert pair.draft_problem is not None
            assert f"token {at} differs" in pair.draft_problem.message

    def test_a_size_far_off_is_refused(self, tmp_path: Path) -> None:
        more = [*TOKENS, *(f"extra{number}" for number in range(129))]
        target = write_llama(tmp_path / "target.gguf")
        with loaded(target, write_llama(tmp_path / "draft.gguf", tokens=more)) as pair:
            assert pair.draft_problem is not None
            assert "129 more tokens" in pair.draft_problem.message

    def test_ids_the_target_does_not_have_are_never_proposed(self, tmp_path: Path, expect_log: LogWatch) -> None:
        expect_log(LLAMA_COMPLAINS)
        more = [*TOKENS, *(f"extra{number}" for number in range(128))]
        target = write_llama(tmp_path / "target.gguf")
        with loaded(target, write_llama(tmp_path / "draft.gguf", tokens=more, seed=1)) as pair:
            assert pair.target is not None
            assert pair.draft is not None
            plain = run_answer(pair, "hello", AnswerSettings(GREEDY, PLAIN, 32))

            reply = run_answer(pair, "hello", ON)

            assert reply.ids == plain.ids
            proposed = [token.id for round_ in reply.rounds for token in round_.tokens]
            assert max(proposed) < len(TOKENS)
            unmasked = ModelDrafter(pair.draft.context, n_vocab=len(more))
            with pytest.raises(DraftglassError, match="invalid token"):
                run_answer(pair, "hello", ON, drafter=unmasked)

    def test_behind_an_id_the_draft_does_not_have_nothing_is_drafted(self, tmp_path: Path) -> None:
        """The target writes one that the draft can't read; later it even stands in the prompt. Nothing failed."""
        more = [*TOKENS, *(f"<|extra{number}|>" for number in range(128))]
        target = write_llama(tmp_path / "target.gguf", tokens=more)
        with loaded(target, write_llama(tmp_path / "draft.gguf", seed=1)) as pair:
            assert pair.draft is not None
            plain = run_answer(pair, "hello", AnswerSettings(GREEDY, PLAIN, 32))
            assert max(plain.ids) >= len(TOKENS)

            reply = run_answer(pair, "hello", ON)
            assert reply.ids == plain.ids
            assert reply.finished.speculation_problem is None
            strange = next(round_.index for round_ in reply.rounds if round_.emitted[-1].id >= len(TOKENS))
            assert [round_.gamma > 0 for round_ in reply.rounds] == [
                round_.index <= strange for round_ in reply.rounds[:-1]
            ] + [False]

            held = list(pair.draft.context.held)
            later = (*user("hello"), ChatMessage(Role.ASSISTANT, plain.text), ChatMessage(Role.USER, "go on"))
            reply = run_answer(pair, later, ON)
            assert max(reply.prompt) >= len(TOKENS)
            assert reply.ids == run_answer(pair, later, AnswerSettings(GREEDY, PLAIN, 32)).ids
            assert reply.finished.speculation_problem is None
            assert not any(round_.gamma for round_ in reply.rounds)
            assert pair.draft.context.held == held

            assert run_answer(pair, "hello", ON).rounds[0].gamma > 0, "a conversation without it is drafted again"


class TestTemplates:
    @pytest.mark.parametrize(
        "template",
        ["{% for m in messages %}{{ m.content }}", "{{ messages[ }}", "{% nonsense %}", "{{ 'x' | no_filter }}"],
    )
    def test_one_that_does_not_parse_gives_way_to_chatml(
        self, tmp_path: Path, template: str, expect_log: LogWatch
    ) -> None:
        expect_log(r"chat template of .*tiny.gguf: .*\(line 1\)")
        with loaded(write_llama(tmp_path / "tiny.gguf", template=template)) as pair:
            assert pair.target is not None
            assert pair.target.facts.template == "ChatML"
            assert "line 1" in pair.target.template.problem
            reply = run_answer(pair, "hello", SHORT)
            assert "<|im_start|>user\nhello<|im_end|>\n" in pair.target.model.vocabulary.decode(reply.prompt)

    @pytest.mark.parametrize(
        "template",
        [
            pytest.param("{{ " + "(" * 500 + "1" + ")" * 500 + " }}", id="brackets without end"),
            pytest.param("{% if 1 %}" * 120 + "{% endif %}" * 120, id="blocks without end"),
            pytest.param("{% break %}", id="no Python"),
            pytest.param("{{ " + "9" * 5000 + " }}", id="no number"),
        ],
    )
    def test_one_that_parses_but_does_not_compile_gives_way_too(
        self, tmp_path: Path, template: str, expect_log: LogWatch
    ) -> None:
        expect_log("chat template of .*tiny.gguf: ")
        with loaded(write_llama(tmp_path / "tiny.gguf", template=template)) as pair:
            assert pair.target is not None
            assert pair.target.facts.template == "ChatML"
            assert pair.target.template.problem

    def test_a_model_without_one_gets_chatml(self, tmp_path: Path) -> None:
        with loaded(write_llama(tmp_path / "tiny.gguf", template=None)) as pair:
            assert pair.target is not None
            assert pair.target.facts.template == "ChatML"
            assert pair.target.template.problem == ""
            assert run_answer(pair, "hello", SHORT).ids

    @pytest.mark.parametrize(
        "template",
        [
            "{{ raise_exception('Roles must alternate') }}",
            "{{ messages[7].content }}",
            "{{ 1 // 0 }}",
            "{{ messages + 1 }}",
            "{% for i in range(10000000) %}{% endfor %}",
            "{{ messages.append.__globals__ }}",
            "{% macro loop() %}{{ loop() }}{% endmacro %}{{ loop() }}",
        ],
    )
    def test_one_that_fails_on_a_conversation_says_so(self, tmp_path: Path, template: str) -> None:
        with loaded(write_llama(tmp_path / "tiny.gguf", template=template)) as pair:
            assert pair.target is not None
            assert pair.target.facts.template == "model"
            for _ in range(2):
                with pytest.raises(DraftglassError) as caught:
                    run_answer(pair, "hello", SHORT)
                assert caught.value.problem.fault is Fault.TEMPLATE
                assert "chat template refuses" in caught.value.problem.message

    def test_one_that_forbids_a_system_prompt_still_serves_without(self, tmp_path: Path) -> None:
        template = (
            "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('No system role') }}{% endif %}"
            "{{ m.content }}{% endfor %}"
        )
        with loaded(write_llama(tmp_path / "tiny.gguf", template=template)) as pair:
            with pytest.raises(DraftglassError, match="No system role"):
                run_answer(pair, (ChatMessage(Role.SYSTEM, "Be brief."), *user("hello")), SHORT)
            assert run_answer(pair, "hello", SHORT).ids

    def test_the_start_token_is_never_doubled(self, tmp_path: Path) -> None:
        for name, start in (("with", "{{ bos_token }}"), ("without", "")):
            template = start + "{% for m in messages %}{{ m.content }}{% endfor %}"
            with loaded(write_llama(tmp_path / f"{name}.gguf", template=template)) as pair:
                prompt = run_answer(pair, "hello", SHORT).prompt
                assert prompt.count(1) == 1
                assert prompt[0] == 1


class TestPrompts:
    @pytest.fixture
    def tiny(self, tmp_path: Path) -> Path:
        return write_llama(tmp_path / "tiny.gguf")

    @pytest.mark.parametrize("text", ["", "  \n\t", "\u3000"])
    def test_an_empty_one_is_refused(self, tiny: Path, text: str) -> None:
        with loaded(tiny) as pair, pytest.raises(DraftglassError) as caught:
            run_answer(pair, text, SHORT)
        assert caught.value.problem.fault is Fault.EMPTY_PROMPT

    def test_one_that_is_too_long_is_refused_with_both_counts(self, tiny: Path) -> None:
        with loaded(tiny, n_ctx=256) as pair:
            assert pair.target is not None
            room = pair.target.context.n_ctx - 1
            overhead = len(run_answer(pair, "a", SHORT).prompt) - 1
            fits = run_answer(pair, "a" * (room - overhead), SHORT)
            assert len(fits.prompt) == room
            assert len(fits.ids) == 1, "one token still fits"

            with pytest.raises(DraftglassError, match=r"has 256 tokens; the context holds 256") as caught:
                run_answer(pair, "a" * (room - overhead + 1), SHORT)
            assert caught.value.problem.fault is Fault.PROMPT_TOO_LONG

    def test_a_vocabulary_without_a_space_spells_it_in_bytes(self, tmp_path: Path) -> None:
        tokens = [*TOKENS[:-1], "nospace"]
        assert TOKENS[-1] == "\u2581"
        with loaded(write_llama(tmp_path / "tiny.gguf", tokens=tokens)) as pair:
            assert len(run_answer(pair, f"x{' ' * 60}", SHORT).prompt) > 3 * 60

    @pytest.mark.parametrize(
        "text", ["a\0b", "lone \ud800 surrogate", "😀" * 30, " " * 60, "<s></s><unk>", "\u202eright to left"]
    )
    def test_odd_text_is_tokenised(self, tiny: Path, text: str) -> None:
        with loaded(tiny, tiny) as pair:
            assert run_answer(pair, f"x{text}", AnswerSettings(GREEDY, speculating(4), 8)).prompt
