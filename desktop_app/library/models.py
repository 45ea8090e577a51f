"""Model files on disk, described from their headers."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from desktop_app.core.errors import DraftglassError, Problem
from desktop_app.library.gguf_header import GgufHeader, TensorInfo, bad_model
from desktop_app.library.gguf_types import FILE_TYPES, TENSOR_TYPES
from desktop_app.library.memory import MemoryShape, memory_shape
from desktop_app.library.shards import parts, read_model

_QUANTISATION = re.compile(r"[-._ ](?:I?Q\d\w*|TQ\d\w*|BF16|F16|F32|MXFP4\w*|NVFP4)$", re.IGNORECASE)
_PART_NUMBER = re.compile(r"-\d{5}-of-\d{5}$")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model on disk; a split model counts as one."""

    path: Path
    """The file to load: of a split model the first part."""
    name: str
    """From the file's name, without its quantisation: what the user knows the model by."""
    title: str
    """What the model's author called it; may be empty."""
    architecture: str
    quantisation: str
    size_bytes: int
    """All parts together."""
    n_ctx_train: int | None
    n_layers: int | None
    n_vocab: int
    has_template: bool
    """Whether it brings a chat template of its own."""
    memory: MemoryShape

    @property
    def label(self) -> str:
        """Name and quantisation, as in menus."""
        return f"{self.name} {self.quantisation}".strip()


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file that looks like a model and is none that can be loaded."""

    path: Path
    problem: Problem


def describe(path: Path) -> ModelFile:
    """What the header tells about the model that `path` belongs to. Raises DraftglassError (BAD_MODEL)."""
    headers = read_model(path)
    first = headers[0]
    tensors = [tensor for header in headers for tensor in header.tensors]
    architecture = first.text("general.architecture")
    if architecture is None or not first.tokens or not tensors:
        raise bad_model(first.path, _lack(first, tensors), "Choose a language model.")
    return ModelFile(
        path=first.path,
        name=name_from(first.path),
        title=first.text("general.name") or "",
        architecture=architecture,
        quantisation=_quantisation(first, tensors),
        size_bytes=sum(header.size_bytes for header in headers),
        n_ctx_train=first.integer(f"{architecture}.context_length"),
        n_layers=first.integer(f"{architecture}.block_count"),
        n_vocab=len(first.tokens),
        has_template="tokenizer.chat_template" in first.metadata,
        memory=memory_shape(headers, architecture),
    )


def list_models(folder: Path) -> list[ModelFile | BadFile]:
    """Every GGUF file in `folder` and below, by path; a split model once. Empty where there is no such folder.

    Reads all headers, so keep it off the GUI thread.
    """
    firsts = {parts(path)[0] for path in folder.rglob("*.gguf")}
    return [_describe_or_explain(path) for path in sorted(firsts)]


def name_from(path: Path) -> str:
    """`SmolLM2-135M-Instruct.Q4_1.gguf` is called `SmolLM2-135M-Instruct`."""
    stem = _PART_NUMBER.sub("", path.stem)
    return _QUANTISATION.sub("", stem) or stem


def _describe_or_explain(path: Path) -> ModelFile | BadFile:
    try:
        return describe(path)
    except DraftglassError as error:
        return BadFile(path, error.problem)


def _lack(header: GgufHeader, tensors: list[TensorInfo]) -> str:
    if not tensors:
        return "holds no weights"
    architecture = header.text("general.architecture")
    kind = f" of architecture {architecture}" if architecture else ""
    return f"holds no language model: it is a GGUF file{kind} without a vocabulary"


def _quantisation(header: GgufHeader, tensors: list[TensorInfo]) -> str:
    """As the file says, or else the type of most of its weights."""
    file_type = header.integer("general.file_type")
    if file_type is not None and file_type in FILE_TYPES:
        return FILE_TYPES[file_type]
    bytes_by_type: Counter[int] = Counter()
    for tensor in tensors:
        bytes_by_type[tensor.type] += tensor.size_bytes or 0
    ((most, _),) = bytes_by_type.most_common(1)
    known = TENSOR_TYPES.get(most)
    return known.name if known else ""
