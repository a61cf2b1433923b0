"""Local-first memory and context engine for LLM agents."""

__version__ = "0.1.0"
