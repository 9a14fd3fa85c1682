"""The results file: what survives a killed run, and what is refused."""

import json

import pytest

from papers.harness.journal import Entry, Journal, JournalError, key_of

CONDITIONS = {"cores": "2", "date": "2026-01-01"}


def entry(number, elapsed=1.0):
    return Entry({"data": "iris", "seed": number}, {"accuracy": 0.9}, seconds=0.5, elapsed=elapsed)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.jsonl"


def write(path, numbers):
    with Journal(path, CONDITIONS) as journal:
        for number in numbers:
            journal.append(entry(number, elapsed=float(number)))


def test_what_was_appended_is_there_again(path):
    write(path, [2, 1])
    with Journal(path, CONDITIONS) as journal:
        assert list(journal.entries.values()) == [entry(2, 2.0), entry(1, 1.0)]
        assert journal.elapsed == 2.0


def test_a_cell_is_known_by_its_description_whatever_the_order_of_its_names():
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})


@pytest.mark.parametrize("n_lost", [1, 5, 60])
def test_a_line_that_is_not_whole_is_cut_off(path, n_lost):
    write(path, [0, 1, 2])
    content = path.read_bytes()
    path.write_bytes(content[:-n_lost])
    with Journal(path, CONDITIONS) as journal:
        assert [e.cell["seed"] for e in journal.entries.values()] == [0, 1]
        journal.append(entry(2, 2.0))
    assert path.read_bytes() == content


def test_a_first_line_that_is_not_whole_is_written_again(path):
    path.write_bytes(b'{"format": "parti')
    write(path, [0])
    with Journal(path, CONDITIONS) as journal:
        assert len(journal.entries) == 1


def test_in_order_the_file_does_not_depend_on_who_finished_first(tmp_path):
    contents = []
    for name, numbers in (("a", [0, 1, 2]), ("b", [2, 0, 1])):
        with Journal(tmp_path / name, CONDITIONS) as journal:
            for number in numbers:
                journal.append(entry(number))
            journal.put_in_order()
            journal.append(entry(7))
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    assert contents[0].count(b"\n") == 5


def test_a_damaged_line_is_named(path):
    write(path, [0, 1])
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"cell"', b"cell")
    path.write_bytes(b"".join(lines))
    with pytest.raises(JournalError, match=r"damaged in line 2.*Delete that line"), Journal(path, CONDITIONS):
        pass


@pytest.mark.parametrize("line", [b"[1, 2]\n", b'{"cell": {}}\n'])
def test_a_line_of_something_else_is_named(path, line):
    write(path, [0])
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(JournalError, match="line 3"), Journal(path, CONDITIONS):
        pass


def test_another_machine_is_refused_but_another_day_is_not(path):
    write(path, [0])
    with Journal(path, CONDITIONS | {"date": "2026-02-02"}) as journal:
        assert journal.conditions == CONDITIONS
    with (
        pytest.raises(JournalError, match=r"cores: 2 then, 64 now.*--out"),
        Journal(path, CONDITIONS | {"cores": "64"}),
    ):
        pass


def test_another_machine_may_read_but_not_add(path):
    machine = {"processor": "fast", "date": "2026-01-01"}
    with Journal(path, CONDITIONS, machine) as journal:
        journal.append(entry(0))
    with Journal(path, CONDITIONS, machine | {"processor": "slow"}) as journal:
        assert journal.conditions["processor"] == "fast"
        assert len(journal.entries) == 1
        journal.put_in_order()
        with pytest.raises(JournalError, match="processor: fast then, slow now"):
            journal.append(entry(1))
    with Journal(path, CONDITIONS, machine | {"date": "2026-02-02"}) as journal:
        journal.append(entry(1))
        assert journal.conditions["processor"] == "fast"


def test_a_damaged_first_line_means_to_begin_anew(path):
    write(path, [0])
    path.write_bytes(b"x" + path.read_bytes())
    with pytest.raises(JournalError, match=r"damaged in line 1.*Delete the file"), Journal(path, CONDITIONS):
        pass


def test_a_file_of_something_else_is_refused(path):
    path.write_text(json.dumps({"accuracy": 1}) + "\n")
    with pytest.raises(JournalError, match="not a results file"), Journal(path, CONDITIONS):
        pass


def test_two_runs_cannot_write_at_once(path):
    pytest.importorskip("fcntl")
    with Journal(path, CONDITIONS) as journal:
        journal.append(entry(0))
        for _ in range(2):
            with pytest.raises(JournalError, match="Another process"), Journal(path, CONDITIONS):
                pass
            journal.put_in_order()  # the file is replaced, the lock stays
    write(path, [1])
