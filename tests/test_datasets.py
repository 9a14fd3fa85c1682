"""The paper's data sets, where the folder with them is there, and folders that are not what they should be."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from particletree.datasets import VARIABLE, load_madelon, load_magic, load_pendigits

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


def test_madelon_from_plain_and_compressed_files(tmp_path):
    for part, labels in (("train", "-1 \n1 \n"), ("valid", "1 \n-1 \n")):
        (tmp_path / f"madelon_{part}.data").write_text("485 477 537 \n483 458 460 \n")
        with gzip.open(tmp_path / f"madelon_{part}.labels.gz", "wt") as file:
            file.write(labels)
    data = load_madelon(tmp_path)
    assert data.name == "Madelon"
    assert data.X_train.tolist() == [[485, 477, 537], [483, 458, 460]]
    assert data.y_train.tolist() == [-1, 1]
    assert data.y_test.tolist() == [1, -1]


def test_a_folder_without_the_files_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"neither madelon_train.data nor madelon_train.data.gz"):
        load_madelon(tmp_path)


def test_no_folder_at_all(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(FileNotFoundError, match=VARIABLE):
        load_madelon()
