"""The same examples in every run and no deadlines, so that a failure is never due to a slow machine."""

from hypothesis import settings

settings.register_profile("vicinal", derandomize=True, deadline=None)
settings.load_profile("vicinal")
