"""What a call gives with a number of threads, for functions that leave it to the run."""

from vicinal._core.parallel import run_with, use_run


def with_threads(n_threads, function, *args, **options):
    with use_run(run_with(n_threads, 0)):
        return function(*args, **options)
