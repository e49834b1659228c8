"""What estimators share: from input to graph, walk and affinity, and new points to them."""
