"""Pages are doctested; the files that build them and generated files are not."""

collect_ignore = ["_ext", "conf.py", "generated", "images"]
