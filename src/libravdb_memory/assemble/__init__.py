"""Assemble: from rules, turns and ranked recall to a prompt that keeps its budget."""
