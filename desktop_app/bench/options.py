"""The command line of `draftglass bench`, turned into values."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop_app.bench.deck import BUILTIN
from desktop_app.bench.plan import AUTO, Gamma, in_order
from desktop_app.core.settings import (
    AUTO_LAYERS,
    GAMMA_MAX,
    AnswerSettings,
    CacheType,
    DraftSource,
    FlashAttention,
    LoadSettings,
    ModelSettings,
    Rule,
    Sampling,
    Speculation,
)

DEFAULT_GAMMAS: tuple[Gamma, ...] = (2, 4, 8, AUTO)

_DESCRIPTION = """\
Run every prompt of a deck plainly and speculatively, alternating, and compare speed and text. Speeds are of decoding
alone, without reading the prompt. Ctrl+C stops and shows what there is so far."""

_GAMMA_HELP = "tokens drafted in a round; 0 is plain and always run, auto chooses in every round (0,2,4,8,auto)"

_EXITS = """\
exit code: 0 done, 2 bad input, 3 texts part where rounding does not explain it (a bug), 130 interrupted"""


@dataclass(frozen=True, slots=True)
class Options:
    target: ModelSettings
    draft: ModelSettings | None
    settings: AnswerSettings
    """Of every run, but for γ; its seed is set."""
    gammas: tuple[Gamma, ...]
    """In order, without the 0 of the plain runs."""
    deck: str
    only: tuple[str, ...]
    """Categories to run; empty for all."""
    repeats: int
    json: Path | None


def parse(argv: Sequence[str]) -> Options:
    """Raises SystemExit(2) on a command line that makes no sense, with the reason on standard error."""
    parser = _parser()
    args = parser.parse_args(argv)
    drafts = args.draft is not None or args.lookup
    gammas = args.gamma if args.gamma is not None else (DEFAULT_GAMMAS if drafts else ())
    if gammas and not drafts:
        parser.error("γ above 0 needs a drafter: --draft FILE or --lookup")
    return Options(
        target=_loading(args, args.gpu_layers).of(args.target),
        draft=_loading(args, args.draft_gpu_layers).of(args.draft) if args.draft else None,
        settings=_settings(args),
        gammas=gammas,
        deck=args.deck,
        only=args.only,
        repeats=args.repeat,
        json=args.json,
    )


def _loading(args: argparse.Namespace, gpu_layers: int) -> LoadSettings:
    return LoadSettings(
        n_ctx=args.ctx,
        gpu_layers=gpu_layers,
        threads=args.threads,
        batch_threads=args.batch_threads,
        cache_k=args.cache_type_k,
        cache_v=args.cache_type_v,
        flash_attention=args.flash_attention,
    )


def _settings(args: argparse.Namespace) -> AnswerSettings:
    source = DraftSource.MODEL
    if args.lookup:
        source = DraftSource.BOTH if args.draft else DraftSource.LOOKUP
    return AnswerSettings(
        sampling=Sampling(args.temperature, args.top_k, args.top_p, args.min_p, seed=args.seed),
        speculation=Speculation(source=source, rule=args.rule),
        max_tokens=args.max_tokens,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="draftglass bench", description=_DESCRIPTION, epilog=_EXITS)
    add, sampling = parser.add_argument, Sampling()
    add("--target", required=True, metavar="FILE", help="GGUF file of the model that answers")
    add("--draft", metavar="FILE", help="GGUF file of the model that drafts")
    add(
        "--lookup",
        action="store_true",
        help="draft by looking up earlier text; before --draft where matches are long",
    )
    add("--gamma", type=_gammas, metavar="N,N", help=_GAMMA_HELP)
    add("--rule", type=Rule, choices=list(Rule), default=Rule.REJECTION, help="above temperature 0 (%(default)s)")
    add("--temperature", type=_at_least_0, default=0.0, metavar="T", help="0 takes the likeliest token (%(default)s)")
    add("--top-k", type=_count, default=sampling.top_k, metavar="N", help="0 keeps all (%(default)s)")
    add("--top-p", type=_share, default=sampling.top_p, metavar="P", help="1 keeps all (%(default)s)")
    add("--min-p", type=_share, default=sampling.min_p, metavar="P", help="0 keeps all (%(default)s)")
    add("--seed", type=int, default=1, metavar="N", help="of the first repeat; the next has N + 1 (%(default)s)")
    add("--max-tokens", type=_positive, default=128, metavar="N", help="longest answer (%(default)s)")
    add("--deck", default=BUILTIN, metavar="FILE", help="JSON file of prompts, or builtin (%(default)s)")
    add("--only", type=_names, default=(), metavar="A,B", help="categories of the deck to run (all)")
    add("--repeat", type=_positive, default=2, metavar="N", help="pairs per prompt and γ (%(default)s)")
    add("--json", type=_output, metavar="OUT", help="write every run and the summary here")
    _add_loading(parser)
    return parser


def _add_loading(parser: argparse.ArgumentParser) -> None:
    """How both models are loaded."""
    group, default = parser.add_argument_group("loading"), LoadSettings()
    add, types = group.add_argument, list(CacheType)
    add("--ctx", type=_positive, default=4096, metavar="N", help="tokens of context (%(default)s)")
    add("--threads", type=_count, default=0, metavar="N", help="0 takes the physical cores (%(default)s)")
    add("--batch-threads", type=_count, default=0, metavar="N", help="of passes over several tokens; 0 as --threads")
    for flag, whose in (("--gpu-layers", "the target"), ("--draft-gpu-layers", "the draft")):
        add(flag, type=_layers, default=AUTO_LAYERS, metavar="N", help=f"of {whose}; auto takes all that fit (auto)")
    add("--cache-type-k", type=CacheType, choices=types, default=default.cache_k, help="of the KV cache (%(default)s)")
    add("--cache-type-v", type=CacheType, choices=types, default=default.cache_v, help="of the KV cache (%(default)s)")
    modes = list(FlashAttention)
    add("--flash-attention", type=FlashAttention, choices=modes, default=default.flash_attention, help="(%(default)s)")


def _layers(text: str) -> int:
    return AUTO_LAYERS if text == "auto" else _count(text)


def _gammas(text: str) -> tuple[Gamma, ...]:
    gammas = {_gamma(part.strip(), text) for part in text.split(",")}
    return tuple(sorted(gammas - {0}, key=in_order))


def _gamma(part: str, text: str) -> Gamma:
    if part == AUTO:
        return AUTO
    try:
        gamma = int(part)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list like 0,2,4,auto") from None
    if not 0 <= gamma <= GAMMA_MAX:
        raise argparse.ArgumentTypeError(f"γ must lie in 0 … {GAMMA_MAX}, got {text}")
    return gamma


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _count(text: str) -> int:
    return int(_limited(int(text), low=0))


def _positive(text: str) -> int:
    return int(_limited(int(text), low=1))


def _at_least_0(text: str) -> float:
    return _limited(float(text), low=0)


def _share(text: str) -> float:
    return _limited(float(text), low=0, high=1)


def _limited(value: float, *, low: int, high: float = math.inf) -> float:
    if not low <= value <= high:
        allowed = f"{low} or more" if math.isinf(high) else f"{low} … {high}"
        raise argparse.ArgumentTypeError(f"must be {allowed}, got {value}")
    return value


def _output(text: str) -> Path:
    """Told now rather than after an hour of running."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path
