"""The pair in memory: target and draft, each with its weights, cache and facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from desktop_app.core.errors import Blame, DraftglassError, Fault, Problem
from desktop_app.core.facts import ModelFacts, Rollback
from desktop_app.core.pacing import Experience, pacer_for
from desktop_app.core.pairing import VocabFacts, compare
from desktop_app.core.settings import AUTO_LAYERS, GAMMA_MAX, AnswerSettings, DraftSource, ModelSettings, Speculation
from desktop_app.engine.drafters.base import Drafter
from desktop_app.engine.drafters.lookup import LookupDrafter
from desktop_app.engine.drafters.model import ModelDrafter
from desktop_app.engine.generation import Generation, Task
from desktop_app.engine.llama import backend
from desktop_app.engine.llama.abort import AbortFlag
from desktop_app.engine.llama.context import Context
from desktop_app.engine.llama.model import Model, offloadable_layers
from desktop_app.engine.llama.template import ChatTemplate
from desktop_app.engine.placement import fewer_and_fewer, first_that_fits
from desktop_app.engine.threads import automatic_threads
from desktop_app.protocol.messages import Part

OnProgress = Callable[[Part, float], None]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    settings: ModelSettings
    model: Model
    context: Context
    template: ChatTemplate

    def close(self) -> None:
        self.context.close()
        self.model.close()

    @property
    def facts(self) -> ModelFacts:
        model, context = self.model, self.context
        return ModelFacts(
            path=model.path,
            name=model.name,
            description=model.description,
            size_bytes=model.size_bytes,
            n_vocab=model.vocabulary.size,
            n_ctx=context.n_ctx,
            n_ctx_train=model.n_ctx_train,
            n_layers=model.n_layers,
            gpu_layers=model.gpu_layers,
            threads=context.threads,
            batch_threads=context.batch_threads,
            cache_k=context.settings.cache_k,
            cache_v=context.settings.cache_v,
            flash_attention=context.flash_attention,
            cache_bytes=context.cache_bytes,
            compute_bytes=context.compute_bytes,
            template=self.template.source,
            memory=model.memory,
            rollback=context.rollback,
        )


@dataclass(frozen=True, slots=True)
class Drafters:
    """Those that can draft, in the order in which to ask them."""

    usable: tuple[Drafter, ...] = ()
    problem: Problem | None = None
    """Why one that was asked for is missing."""

    @property
    def has_model(self) -> bool:
        return any(not each.free for each in self.usable)


class Pair:
    """Loads what is asked for and keeps what already fits. A draft that can't be used never costs the target."""

    def __init__(self, abort: AbortFlag) -> None:
        self._abort = abort
        self.target: LoadedModel | None = None
        self.draft: LoadedModel | None = None
        self.draft_problem: Problem | None = None
        self.experience = Experience()
        """Of the models in memory."""

    def load(self, target: ModelSettings, draft: ModelSettings | None, on_progress: OnProgress) -> None:
        """Have this pair in memory. Raises LoadAborted, or DraftglassError where the target can't be loaded."""
        before = (self.target, self.draft)
        try:
            self._load(target, draft, on_progress)
        finally:
            if (self.target, self.draft) != before:
                self.experience = Experience()

    def _load(self, target: ModelSettings, draft: ModelSettings | None, on_progress: OnProgress) -> None:
        if self.target is None or self.target.settings != target:
            self.unload()
            self.target = self._open(target, Part.TARGET, on_progress)
        wanted = None if draft is None else _sized_like(draft, self.target)
        if self.draft is not None and (wanted is None or self.draft.settings != wanted):
            self.draft.close()
            self.draft = None
        self.draft_problem = None
        if wanted is not None and self.draft is None:
            self._load_draft(wanted, on_progress)

    def unload(self) -> None:
        for loaded in (self.draft, self.target):
            if loaded is not None:
                loaded.close()
        self.target = self.draft = self.draft_problem = None

    def generation(self, request: int, prompt: tuple[int, ...], settings: AnswerSettings, *, seed: int) -> Generation:
        """An answer to a prompt of at least one token, fewer than the context holds."""
        assert self.target is not None
        drafters = self.drafters(settings.speculation)
        pacer = pacer_for(settings, self.experience, has_model=drafters.has_model)
        task = Task(request, prompt, settings, seed, drafters.problem)
        return Generation(task, self.target.context, drafters.usable, pacer)

    def drafters(self, speculation: Speculation) -> Drafters:
        """What drafts under these settings, what is free first."""
        if not speculation.enabled or speculation.source is DraftSource.NONE:
            return Drafters()
        assert self.target is not None
        if self.target.context.rollback is Rollback.NONE:
            return Drafters(problem=_no_rollback(self.target.model.name))
        usable: list[Drafter] = []
        problem = None
        if speculation.source.uses_lookup:
            usable.append(LookupDrafter(min_n=speculation.lookup_min_n, max_n=speculation.lookup_max_n))
        if speculation.source.uses_model and self.draft is not None:
            usable.append(ModelDrafter(self.draft.context, n_vocab=self.target.model.vocabulary.size))
        elif speculation.source.uses_model:
            problem = self.draft_problem or Problem("No draft is loaded.", "Choose one.", Blame.USER)
        return Drafters(tuple(usable), problem)

    def _load_draft(self, settings: ModelSettings, on_progress: OnProgress) -> None:
        assert self.target is not None
        try:
            draft = self._open(settings, Part.DRAFT, on_progress)
        except DraftglassError as error:
            self.draft_problem = error.problem
            return
        self.draft_problem = _misfit(self.target, draft)
        if self.draft_problem is None:
            self.draft = draft
        else:
            draft.close()

    def _open(self, settings: ModelSettings, part: Part, on_progress: OnProgress) -> LoadedModel:
        if settings.gpu_layers != AUTO_LAYERS or not backend.supports_gpu():
            return self._open_with(settings.gpu_layers, settings, part, on_progress)
        counts = fewer_and_fewer(lambda: offloadable_layers(settings.path))
        return first_that_fits(counts, lambda count: self._open_with(count, settings, part, on_progress))

    def _open_with(self, gpu_layers: int, settings: ModelSettings, part: Part, on_progress: OnProgress) -> LoadedModel:
        def report(fraction: float) -> bool:
            on_progress(part, fraction)
            return not self._abort.is_set()

        model = Model(settings.path, gpu_layers=gpu_layers, on_progress=report)
        try:
            template = ChatTemplate(model)
            # A draft appends its tokens one pass at a time, where snapshots don't help.
            snapshots = GAMMA_MAX if part is Part.TARGET else 0
            context = Context(model, _resolved(settings, model.n_ctx_train), self._abort, snapshots=snapshots)
        except BaseException:
            model.close()
            raise
        return LoadedModel(settings, model, context, template)


def vocabulary_facts(model: Model) -> VocabFacts:
    vocabulary = model.vocabulary
    return VocabFacts(
        type=vocabulary.kind,
        tokens=vocabulary.texts(),
        add_bos=vocabulary.adds_bos,
        add_eos=vocabulary.adds_eos,
        bos_id=vocabulary.bos,
        eos_id=vocabulary.eos,
        eog_ids=vocabulary.end_ids,
    )


def _sized_like(draft: ModelSettings, target: LoadedModel) -> ModelSettings:
    """The draft sees the whole conversation, so its context is the target's."""
    return replace(draft, n_ctx=target.context.n_ctx)


def _resolved(settings: ModelSettings, n_ctx_train: int) -> ModelSettings:
    """What "automatic" means here, and no more context than the model was trained for."""
    threads = settings.threads or automatic_threads()
    return replace(
        settings,
        n_ctx=min(settings.n_ctx, n_ctx_train),
        threads=threads,
        batch_threads=settings.batch_threads or threads,
    )


def _misfit(target: LoadedModel, draft: LoadedModel) -> Problem | None:
    """Why this draft can't serve this target."""
    verdict = compare(vocabulary_facts(target.model), vocabulary_facts(draft.model))
    if not verdict.ok:
        return Problem(
            verdict.reason[:1].upper() + verdict.reason[1:] + ".",
            "Choose a draft of the same model family.",
            Blame.USER,
            Fault.VOCABULARY,
        )
    if draft.context.rollback is Rollback.NONE:
        return _no_rollback(draft.model.name)
    if draft.context.n_ctx < target.context.n_ctx:
        return Problem(
            f"The draft's context holds {draft.context.n_ctx} tokens, the target's {target.context.n_ctx}.",
            f"Load the target with a context of {draft.context.n_ctx}, or choose another draft.",
            Blame.USER,
        )
    return None


def _no_rollback(name: str) -> Problem:
    return Problem(
        f"{name} keeps a state that can't go back to before a refused token.",
        "Choose another model to speculate.",
        Blame.USER,
    )
