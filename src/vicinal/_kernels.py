"""How kernels are compiled."""

from __future__ import annotations

# For kernels that allocate nothing: without reference counts, whose atomic updates make threads that
# share an array wait for each other.
LEAN = {"cache": True, "nogil": True, "_nrt": False}
