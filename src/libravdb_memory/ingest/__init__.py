"""Ingest: from what a host says to a turn that can be kept."""
