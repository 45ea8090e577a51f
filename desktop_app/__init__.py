"""Draftglass: chat with local models and watch speculative decoding work."""

__version__ = "0.1.0"
