"""Files that are complete or not there at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from particletree._atomic_files import is_device, open_atomically


def test_a_file_is_replaced_when_it_is_complete(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with open_atomically(path, text=True) as stream:
        stream.write("new\r\nä")
        assert path.read_text() == "old"
    assert path.read_bytes() == "new\r\nä".encode()
    assert [*tmp_path.iterdir()] == [path]


def write_half(path, error):
    with open_atomically(path) as stream:
        stream.write(b"half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "a.npz"
    path.write_bytes(b"old")
    with pytest.raises(error):
        write_half(path, error)
    assert path.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [path]


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path):
    path = tmp_path / "a.csv"
    with pytest.raises(OSError, match="No space left") as caught, open_atomically(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == str(path)


def test_a_folder_that_is_not_there_is_told_with_the_name_of_the_file(tmp_path):
    path = tmp_path / "nowhere" / "a.csv"
    with pytest.raises(FileNotFoundError) as caught, open_atomically(path):
        pass
    assert caught.value.filename == str(path)


def test_errors_of_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, open_atomically(tmp_path / "a.csv"):
        (tmp_path / "other.csv").read_text()
    assert caught.value.filename == str(tmp_path / "other.csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of POSIX")
def test_a_device_is_written_to_and_stays(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    with open_atomically(path, text=True) as stream:
        stream.write("row")
    reader.join(10)
    assert read == [b"row"]
    assert is_device(path)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_link_stays_a_link(tmp_path):
    path, link = tmp_path / "a.csv", tmp_path / "link.csv"
    path.write_bytes(b"old")
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("links need a right that Windows gives to few")
    with open_atomically(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


POSIX_ONLY = pytest.mark.skipif(os.name != "posix", reason="signals and locks of POSIX")


def start_writer(path):
    """Start a process that has written half of a file and waits."""
    code = f"""
import sys
from pathlib import Path
from particletree._atomic_files import open_atomically
with open_atomically(Path({str(path)!r}), text=True) as stream:
    stream.write("half")
    print("ready", flush=True)
    sys.stdin.readline()
"""
    writer = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "ready\n"
    return writer


@POSIX_ONLY
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_no_draft(tmp_path, name):
    path, number = tmp_path / "a.csv", getattr(signal, name)
    path.write_text("old")
    with start_writer(path) as writer:
        writer.send_signal(number)
        assert writer.wait(timeout=30) == -number
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_text() == "old"


@POSIX_ONLY
def test_the_next_write_removes_the_draft_of_a_killed_process_and_no_other(tmp_path):
    path, foreign = tmp_path / "a.csv", tmp_path / ".a.csv.notes.part"
    foreign.write_text("of somebody else")
    with start_writer(tmp_path / "b.csv") as of_another_file:
        of_another_file.kill()
    with start_writer(path) as killed:
        killed.kill()
    assert len([*tmp_path.iterdir()]) == 3
    with start_writer(path) as running:
        with open_atomically(path, text=True) as stream:
            stream.write("new")
        assert path.read_text() == "new"
        drafts = {file.name[:7] for file in tmp_path.iterdir() if file not in (path, foreign)}
        assert drafts == {".a.csv.", ".b.csv."}  # of the running process, and of the other file
        running.communicate("go on\n", timeout=30)
        assert running.returncode == 0
    assert path.read_text() == "half"
    assert len([*tmp_path.iterdir()]) == 3


def test_a_signal_handler_of_the_caller_stays(tmp_path):
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        ours = signal.getsignal(signal.SIGTERM)
        with open_atomically(tmp_path / "a.csv"):
            assert signal.getsignal(signal.SIGTERM) is ours
        assert signal.getsignal(signal.SIGTERM) is ours
    finally:
        signal.signal(signal.SIGTERM, before)
    with open_atomically(tmp_path / "a.csv"):
        pass
    assert signal.getsignal(signal.SIGTERM) is before
