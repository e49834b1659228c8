"""Helpers used by all packages; independent of graphs."""
