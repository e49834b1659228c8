"""Pages are doctested; what builds them, and what building leaves behind, is not."""

collect_ignore = ["_ext", "conf.py", "generated", "images"]
