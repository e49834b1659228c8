"""Helpers that every package uses and that know nothing of graphs."""
