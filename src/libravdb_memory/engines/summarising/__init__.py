"""Summarisers: engines that make one short text of many turns."""
