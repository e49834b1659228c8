"""A sparse matrix as an operator whose products use threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from vicinal._core.parallel import blocks, map_threads, n_threads

# With fewer entries, a product takes less time than starting a thread.
MIN_ENTRIES_FOR_THREADS = 1 << 18


class ThreadedSparseOperator(LinearOperator):
    """A CSR matrix as a `LinearOperator`; results do not depend on the number of threads.

    Parameters
    ----------
    matrix : csr_array of float64
        The matrix.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.
    """

    def __init__(self, matrix: sparse.csr_array) -> None:
        super().__init__(np.float64, matrix.shape)
        self.matrix = matrix
        threads = n_threads() if matrix.nnz > MIN_ENTRIES_FOR_THREADS else 1
        # More blocks than threads, because rows differ in length and cores in load.
        n_blocks = 2 * threads if threads > 1 else 1
        self._blocks = blocks(matrix.shape[0], max(1, -(-matrix.shape[0] // n_blocks)))

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        from vicinal.operators._matmul_kernels import rows_times_vector

        return self._run(rows_times_vector, np.ascontiguousarray(x.ravel(), dtype=np.float64))

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        from vicinal.operators._matmul_kernels import rows_times_block

        return self._run(rows_times_block, np.ascontiguousarray(X, dtype=np.float64))

    def _run(self, kernel: Callable[..., None], x: np.ndarray) -> np.ndarray:
        out = np.empty((self.shape[0], *x.shape[1:]))
        matrix = self.matrix
        map_threads(
            lambda rows: kernel(matrix.indptr, matrix.indices, matrix.data, x, *rows, out),
            self._blocks,
        )
        return out
