"""Chat messages to the prompt text that the model was trained on."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import jinja2
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from desktop_app.core.errors import Blame, DraftglassError, Fault, Problem
from desktop_app.engine.llama.model import Model
from desktop_app.protocol.messages import ChatMessage

logger = logging.getLogger(__name__)

FROM_MODEL, FALLBACK = "model", "ChatML"

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""What a model without a usable template gets; the commonest format, and readable to models that don't know it."""


class ChatTemplate:
    """The model's own template in llama-cpp-python's sandboxed Jinja, or ChatML where there is none.

    `source` says which; `problem` says why the model's own was not used although it has one.
    """

    def __init__(self, model: Model) -> None:
        vocabulary = model.vocabulary
        self._bos, self._eos = vocabulary.name(vocabulary.bos), vocabulary.name(vocabulary.eos)
        self.source, self.problem = FROM_MODEL, ""
        own = model.template
        try:
            self._formatter = self._parse(own or CHATML)
        # Jinja compiles to Python, whose compiler has limits and errors of its own.
        except (jinja2.TemplateError, SyntaxError, ValueError, RecursionError) as error:
            self.problem = _explain(error)
            logger.warning("chat template of %s: %s", model.path, self.problem)
            own, self._formatter = None, self._parse(CHATML)
        if own is None:
            self.source = FALLBACK

    def render(self, messages: Sequence[ChatMessage]) -> str:
        """The prompt, up to where the answer begins. Raises DraftglassError(TEMPLATE) where the template refuses."""
        values = [{"role": str(message.role), "content": message.content} for message in messages]
        try:
            return str(self._formatter(messages=values).prompt)  # type: ignore[arg-type]  # plain dicts of its shape
        # A template is a program from a stranger: besides Jinja's errors it can divide by zero or index out of range.
        except (jinja2.TemplateError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
            raise DraftglassError(
                Problem(
                    f"The model's chat template refuses this conversation: {_explain(error)}.",
                    "Some models accept no system prompt, or only turns that alternate; start a new chat or clear the "
                    "system prompt.",
                    Blame.USER,
                    Fault.TEMPLATE,
                )
            ) from error

    def _parse(self, template: str) -> Jinja2ChatFormatter:
        return Jinja2ChatFormatter(template, eos_token=self._eos, bos_token=self._bos)


def _explain(error: Exception) -> str:
    line = getattr(error, "lineno", None)
    return f"{error} (line {line})" if line else str(error)
