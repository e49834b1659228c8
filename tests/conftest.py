"""The same examples in every run, and no clock: a red test is a fault, not a slow moment."""

from hypothesis import settings

settings.register_profile("vicinal", derandomize=True, deadline=None)
settings.load_profile("vicinal")
