"""The paper's data sets, where the folder with them is there, and folders that are not what they should be."""

import gzip
import hashlib
import os
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from particletree.datasets import FILES, VARIABLE, DamagedFileError, load_madelon, load_magic, load_pendigits

FOLDER = Path(os.environ.get(VARIABLE, Path(__file__).parents[2] / "shared" / "data"))


@pytest.mark.parametrize(
    ("load", "file", "train_shape", "test_shape", "class_counts"),
    [
        (
            load_pendigits,
            "pendigits.tra.gz",
            (7494, 16),
            (3498, 16),
            [780, 779, 780, 719, 780, 720, 720, 778, 719, 719],
        ),
        (load_magic, "magic04.data.gz", (13314, 10), (5706, 10), None),
        (load_madelon, "madelon_train.data.gz", (2000, 500), (600, 500), [1000, 1000]),
    ],
)
def test_the_papers_data(load, file, train_shape, test_shape, class_counts):
    if not (FOLDER / file).exists():
        pytest.skip(f"{file} is not here")
    data = load(FOLDER)
    assert data.X_train.shape == train_shape
    assert data.X_test.shape == test_shape
    assert len(data.y_train) == train_shape[0]
    assert len(data.y_test) == test_shape[0]
    assert np.isfinite(data.X_train).all()
    counts = np.unique(data.y_train, return_counts=True)[1].tolist()
    assert class_counts is None or counts == class_counts


@pytest.fixture
def small_files(monkeypatch):
    """Let Madelon be two rows of three features: returns the texts of its files, whose checksums are expected."""
    texts = {}
    for part, labels in (("train", "-1 \n1 \n"), ("valid", "1 \n-1 \n")):
        texts[f"madelon_{part}.data"] = "485 477 537 \n483 458 460 \n"
        texts[f"madelon_{part}.labels"] = labels
    for name, text in texts.items():
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        monkeypatch.setitem(FILES, name, replace(FILES[name], sha256=sha256))
    return texts


@pytest.fixture
def uci(monkeypatch, small_files, tmp_path):
    """A server with the small files in UCI's places, and an empty cache; returns the list of what was asked for."""
    files = {f"/{FILES[name].place}": text.encode() for name, text in small_files.items()}
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(files[self.path])

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setattr("particletree.datasets.UCI", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "cache" / project)
    monkeypatch.delenv(VARIABLE, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield files, asked
    server.shutdown()
    thread.join()
    server.server_close()


def assert_is_small_madelon(data):
    assert data.name == "Madelon"
    assert data.X_train.tolist() == [[485, 477, 537], [483, 458, 460]]
    assert data.y_train.tolist() == [-1, 1]
    assert data.y_test.tolist() == [1, -1]


def test_madelon_from_plain_and_compressed_files(tmp_path, small_files):
    for name, text in small_files.items():
        if name.endswith("data"):
            (tmp_path / name).write_bytes(text.encode())
        else:
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert_is_small_madelon(load_madelon(tmp_path))


def test_the_environment_names_a_folder_and_an_argument_goes_before_it(monkeypatch, tmp_path, small_files):
    for name, text in small_files.items():
        (tmp_path / name).write_bytes(text.encode())
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert_is_small_madelon(load_madelon())
    with pytest.raises(FileNotFoundError, match="elsewhere"):
        load_madelon(tmp_path / "elsewhere")


def test_a_folder_without_the_files_is_named(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"neither madelon_train.data nor madelon_train.data.gz; get it from http"
    ):
        load_madelon(tmp_path)


def test_an_edited_file_is_found_out(tmp_path, small_files):
    for name, text in small_files.items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "madelon_valid.data").write_bytes(b"485 477 537 \n483 458 461 \n")
    with pytest.raises(DamagedFileError, match=r"madelon_valid.data is not the file that UCI published.*SHA-256"):
        load_madelon(tmp_path)


@pytest.mark.parametrize("damage", [lambda content: content[:-9], lambda content: b"PK" + content[2:]])
def test_a_damaged_archive_is_found_out(tmp_path, small_files, damage):
    for name, text in small_files.items():
        (tmp_path / f"{name}.gz").write_bytes(damage(gzip.compress(text.encode())))
    with pytest.raises(DamagedFileError, match=r"madelon_train.data.gz is damaged"):
        load_madelon(tmp_path)


def test_a_download_is_kept(uci):
    _, asked = uci
    assert_is_small_madelon(load_madelon())
    assert sorted(asked) == sorted(f"/{FILES[name].place}" for name in FILES if "madelon" in name)
    assert_is_small_madelon(load_madelon())
    assert len(asked) == 4


def test_a_damaged_copy_in_the_cache_is_downloaded_again(uci, tmp_path):
    _, asked = uci
    load_madelon()
    (tmp_path / "cache" / "particletree" / "madelon_train.data").write_text("1 2 3 \n")
    assert_is_small_madelon(load_madelon())
    assert len(asked) == 5


def test_a_damaged_download_is_found_out(uci):
    files, _ = uci
    files["/madelon/MADELON/madelon_train.data"] = b"<html>We have moved</html>"
    with pytest.raises(
        DamagedFileError, match=r"madelon_train.data was downloaded, but it is not the file that we know"
    ):
        load_madelon()


def test_no_folder_and_no_network(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("particletree.datasets.UCI", "http://127.0.0.1:9/")
    monkeypatch.setattr("pooch.os_cache", lambda _: tmp_path)
    with pytest.raises(FileNotFoundError, match=rf"could not be downloaded.*--data-dir.*{VARIABLE}"):
        load_madelon()


def test_no_folder_and_no_pooch(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(FileNotFoundError, match=r"pip install pooch\."):
        load_madelon()
