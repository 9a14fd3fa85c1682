"""Files that are complete or not there at all."""

import errno
import os
import stat
import threading

import pytest

from particletree.whole_files import is_device, open_whole


def test_a_file_is_replaced_when_it_is_complete(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with open_whole(path, text=True) as stream:
        stream.write("new\r\nä")
        assert path.read_text() == "old"
    assert path.read_bytes() == "new\r\nä".encode()
    assert [*tmp_path.iterdir()] == [path]


def write_half(path, error):
    with open_whole(path) as stream:
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
    with pytest.raises(OSError, match="No space left") as caught, open_whole(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == str(path)


def test_a_folder_that_is_not_there_is_told_with_the_name_of_the_file(tmp_path):
    path = tmp_path / "nowhere" / "a.csv"
    with pytest.raises(FileNotFoundError) as caught, open_whole(path):
        pass
    assert caught.value.filename == str(path)


def test_errors_of_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, open_whole(tmp_path / "a.csv"):
        (tmp_path / "other.csv").read_text()
    assert caught.value.filename == str(tmp_path / "other.csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of POSIX")
def test_a_device_is_written_to_and_stays(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    with open_whole(path, text=True) as stream:
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
    with open_whole(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
