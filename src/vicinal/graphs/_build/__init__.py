"""How graphs are built: spanning trees, edge lists, duplicates and perturbed points."""
