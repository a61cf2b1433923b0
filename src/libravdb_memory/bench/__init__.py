"""Measurements of this machine: the store and the embedding model. Results are plain values, ready for JSON."""
