"""Engines: what turns text into vectors."""
