"""Files that a person asked for: complete or not there, as private as before, and never another's."""

import os
import shutil
import stat
import subprocess
import sys

import pytest

WRITE = (
    "import sys; from pathlib import Path; from vicinal._core.files import atomic_write\n"
    "with atomic_write(Path(sys.argv[1])) as unfinished:\n"
    "    unfinished.write_text('ours')\n"
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(30)))
    return path


def cluster(*arguments):
    command = [sys.executable, "-m", "vicinal.cli", "cluster", "--clusters", "2"]
    subprocess.run([*command, *map(str, arguments)], check=True, timeout=300, capture_output=True)


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX permissions")
def test_a_replaced_file_keeps_its_mode_and_a_link_stays_a_link(table, tmp_path):
    target, link = tmp_path / "kept" / "labels.csv", tmp_path / "labels.csv"
    target.parent.mkdir()
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    cluster(table, "-o", link, "--force")
    assert link.is_symlink()
    assert target.read_text().startswith("row,")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(path.name for path in target.parent.iterdir()) == ["labels.csv"]


def _can_make_a_namespace():
    command = ["unshare", "--pid", "--fork", "--mount-proc", "true"]
    return shutil.which("unshare") and not subprocess.run(command, capture_output=True).returncode


@pytest.mark.skipif(not _can_make_a_namespace(), reason="needs a namespace of process numbers")
def test_a_process_in_another_container_keeps_its_unfinished_file(tmp_path):
    slow = WRITE + "    print(flush=True); input()\n"
    command = [sys.executable, "-c", slow, tmp_path / "slow.csv"]
    container = ["unshare", "--pid", "--fork", "--mount-proc"]
    # The second process of its container: the other one, where the writer is the first, has no such number.
    second = [*container, "sh", "-c", '"$@"; exit $?', "sh", *map(str, command)]
    with subprocess.Popen(
        second, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        writer.stdout.readline()
        other = [*container, sys.executable, "-c", WRITE, str(tmp_path / "other.csv")]
        subprocess.run(other, check=True, timeout=300)
        writer.communicate("\n", timeout=300)
    assert writer.returncode == 0
    assert (tmp_path / "slow.csv").read_text() == "ours"
