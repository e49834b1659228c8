"""Studies that repeat the experiments of papers; run them with `vicinal reproduce`."""
