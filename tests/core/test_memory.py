"""Free memory is that of the machine, of a limited group of processes or of this one, whichever is less."""

import subprocess
import sys

import pytest

from vicinal._core import memory as _memory
from vicinal._core.memory import free_memory

GIB = 2**30


def system(root, files):
    """A root folder whose files report 8 GiB of free memory, and the given limits."""
    files = {"proc/meminfo": f"MemTotal: 1 kB\nMemAvailable: {8 * 2**20} kB\n", **files}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def group_2(folder, limit, used, cache=0):
    at = f"sys/fs/cgroup/{folder}"
    stat = f"anon 5\nfile {cache}\ninactive_file {cache // 2}\nactive_file {cache - cache // 2}\n"
    return {
        f"{at}/memory.max": f"{limit}\n",
        f"{at}/memory.current": f"{used}\n",
        f"{at}/memory.stat": stat,
    }


def test_without_control_groups_the_machine_decides(tmp_path):
    assert free_memory(system(tmp_path, {})) == 8 * GIB
    assert free_memory(tmp_path / "nowhere") != 0


@pytest.mark.parametrize(
    ("limit", "used", "cache", "expected"),
    [
        (4 * GIB, 1 * GIB, 0, 3 * GIB),
        (4 * GIB, 3 * GIB, 2 * GIB, 3 * GIB),
        (1 * GIB, 2 * GIB, 0, 0),
        (64 * GIB, 1 * GIB, 0, 8 * GIB),
        ("max", 1 * GIB, 0, 8 * GIB),
        ("", 1 * GIB, 0, 8 * GIB),
    ],
)
def test_group_limits_subtract_usage_but_not_cache(tmp_path, limit, used, cache, expected):
    files = {"proc/self/cgroup": "0::/app\n", **group_2("app", limit, used, cache)}
    assert free_memory(system(tmp_path, files)) == expected


def test_parent_groups_limit_too(tmp_path):
    files = {
        "proc/self/cgroup": "0::/pods/pod/app\n",
        **group_2("pods", 2 * GIB, 1 * GIB),
        **group_2("pods/pod/app", 4 * GIB, 1 * GIB),
    }
    assert free_memory(system(tmp_path, files)) == 1 * GIB


@pytest.mark.parametrize("path", ["/", "/docker/1234", "/../../elsewhere"])
def test_a_container_sees_its_group_as_the_root(tmp_path, path):
    files = {"proc/self/cgroup": f"0::{path}\n", **group_2("", 3 * GIB, 1 * GIB)}
    assert free_memory(system(tmp_path, files)) == 2 * GIB


@pytest.mark.parametrize(("limit", "expected"), [(3 * GIB, 2.5 * GIB), (2**63 - 4096, 8 * GIB)])
def test_control_groups_version_1_are_read(tmp_path, limit, expected):
    at = "sys/fs/cgroup/memory/app"
    files = {
        "proc/self/cgroup": "12:cpu,cpuacct:/other\n5:memory:/app\n0::/x\n",
        f"{at}/memory.limit_in_bytes": f"{limit}",
        f"{at}/memory.usage_in_bytes": f"{GIB}",
        f"{at}/memory.stat": f"cache 1\ntotal_inactive_file {GIB // 2}\ntotal_active_file 0\n",
    }
    assert free_memory(system(tmp_path, files)) == expected


def test_damaged_files_count_as_missing(tmp_path):
    files = {
        "proc/self/cgroup": "no colons\n0::/app\n\n",
        "proc/meminfo": "MemAvailable: many kB\n",
        "sys/fs/cgroup/app/memory.max": "4\x00",
        "sys/fs/cgroup/memory.max/folder": "",
    }
    assert free_memory(system(tmp_path, files)) == free_memory(tmp_path / "nowhere")


STATUS = {"proc/self/status": f"VmSize:\t{2**20} kB\nVmData:\t{2**19} kB\n"}


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, 8 * GIB),
        ({"RLIMIT_AS": 3 * GIB}, 2 * GIB),
        ({"RLIMIT_DATA": 3 * GIB}, 2.5 * GIB),
        ({"RLIMIT_AS": 3 * GIB, "RLIMIT_DATA": GIB}, GIB // 2),
        ({"RLIMIT_AS": GIB // 2}, 0),
        ({"RLIMIT_AS": 64 * GIB}, 8 * GIB),
    ],
)
def test_process_limits_subtract_usage(tmp_path, monkeypatch, limits, expected):
    resource = pytest.importorskip("resource")
    numbers = {getattr(resource, name): limit for name, limit in limits.items()}
    unlimited = resource.RLIM_INFINITY
    monkeypatch.setattr(
        _memory.resource, "getrlimit", lambda number: (numbers.get(number, unlimited), unlimited)
    )
    assert free_memory(system(tmp_path, STATUS)) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce the limit")
def test_the_limit_of_the_shell_bounds_free_memory():
    code = (
        "import resource\n"
        "from vicinal._core.memory import free_memory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))\n"
        "print(0 < free_memory() <= 2**32)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_too_large_computations_raise_with_the_sizes(monkeypatch):
    monkeypatch.setattr(_memory, "free_memory", lambda: 2 * GIB)
    _memory.require_memory(2.0 * GIB, "It", "Take less.")
    words = r"It needs about 3\.0 GiB, but 2\.0 GiB of memory are free\. Take less\."
    with pytest.raises(MemoryError, match=words):
        _memory.require_memory(3.0 * GIB, "It", "Take less.")


def test_free_memory_is_read_again_for_large_requests_and_after_a_moment(monkeypatch):
    calls, now = [], [0.0]
    monkeypatch.setattr(_memory, "monotonic", lambda: now[0])
    monkeypatch.setattr(_memory, "free_memory", lambda: calls.append(1) or GIB)
    for n_bytes in (1000, 1000, GIB // 2, 1000):
        _memory.require_memory(n_bytes, "A table", "Use less.")
    assert len(calls) == 2
    now[0] += 1.0
    _memory.require_memory(1000, "A table", "Use less.")
    assert len(calls) == 3
    with pytest.raises(MemoryError, match="Use less"):
        _memory.require_memory(2 * GIB, "A table", "Use less.")
