"""Path-based similarity: two points are as similar as the worst step of the best path."""
