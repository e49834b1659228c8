"""Path-based similarity: the similarity of two points is that of the worst step of their best path."""
