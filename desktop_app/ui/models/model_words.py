"""What a picker's tooltip says about a model in memory. No widgets, no Qt."""

from __future__ import annotations

from desktop_app.core.facts import MemoryKind, ModelFacts, Rollback

_KEEPS = {
    MemoryKind.ATTENTION: "every token",
    MemoryKind.SLIDING_WINDOW: "every token, of which some layers see only the latest (sliding window)",
    MemoryKind.RECURRENT: "one running state instead of every token (recurrent)",
    MemoryKind.HYBRID: "a running state in some layers, every token in the others (hybrid)",
}
_GOES_BACK = {
    Rollback.REMOVAL: "refused ones are removed",
    Rollback.SNAPSHOTS: "after a refusal it goes back to the state before it",
    Rollback.CHECKPOINTS: "after a refusal a copy is restored, and what was kept since is read again",
    Rollback.NONE: "it can't go back to before a refused token",
}


def model_details(path: str, facts: ModelFacts | None) -> str:
    """Name, kind, memory and file, a line each; the file alone while the model is not loaded."""
    return "\n".join((facts.name, facts.description, memory_words(facts), path)) if facts else path


def memory_words(facts: ModelFacts) -> str:
    return f"Remembers {_KEEPS[facts.memory]}; {_GOES_BACK[facts.rollback]}"
