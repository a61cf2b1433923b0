"""Stores: one protocol, several databases behind it."""
