"""Studies that repeat the experiments of papers; ``python -m studies`` lists them."""
