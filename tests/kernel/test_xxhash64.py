"""The kernel's XXH64 against published values and against the specification written in Python."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from particletree import _kernel

PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
MASK = 2**64 - 1


def rotated(x: int, n: int) -> int:
    return ((x << n) | (x >> (64 - n))) & MASK


def mixed(lane: int, word: int) -> int:
    return rotated((lane + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64(data: bytes) -> int:
    """Follow xxhash_spec.md step by step, with seed 0."""
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data) // 8 * 8, 8)]
    n_striped = len(data) // 32 * 4
    if len(data) >= 32:
        lanes = [(PRIMES[0] + PRIMES[1]) & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
        for i, word in enumerate(words[:n_striped]):
            lanes[i % 4] = mixed(lanes[i % 4], word)
        hash_ = sum(rotated(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
        for lane in lanes:
            hash_ = ((hash_ ^ mixed(0, lane)) * PRIMES[0] + PRIMES[3]) & MASK
    else:
        hash_ = PRIMES[4]
    hash_ = (hash_ + len(data)) & MASK
    for word in words[n_striped:]:
        hash_ = (rotated(hash_ ^ mixed(0, word), 27) * PRIMES[0] + PRIMES[3]) & MASK
    rest = data[len(words) * 8 :]
    if len(rest) >= 4:
        hash_ = (
            rotated(hash_ ^ int.from_bytes(rest[:4], "little") * PRIMES[0] & MASK, 23) * PRIMES[1] + PRIMES[2]
        ) & MASK
        rest = rest[4:]
    for byte in rest:
        hash_ = rotated(hash_ ^ byte * PRIMES[4] & MASK, 11) * PRIMES[0] & MASK
    hash_ = (hash_ ^ hash_ >> 33) * PRIMES[1] & MASK
    hash_ = (hash_ ^ hash_ >> 29) * PRIMES[2] & MASK
    return hash_ ^ hash_ >> 32


def hash_of(data: bytes) -> int:
    (answer,) = _kernel.hash_stretches(np.frombuffer(data, dtype=np.uint8), np.array([0, len(data)]))
    return int(answer)


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", 0xEF46DB3751D8E999), (b"a", 0xD24EC4F1A98C6E5B), (b"abc", 0x44BC2CF5AD770999)],
)
def test_published_values(data: bytes, expected: int) -> None:
    assert hash_of(data) == xxh64(data) == expected


@pytest.mark.parametrize("n", [*range(1, 41), 63, 64, 65, 1000, 1003])
def test_every_length_of_the_rest(n: int) -> None:
    data = np.random.default_rng(n).bytes(n)
    assert hash_of(data) == xxh64(data)


def test_stretches() -> None:
    data = np.random.default_rng(0).bytes(100)
    hashes = _kernel.hash_stretches(np.frombuffer(data, dtype=np.uint8), np.array([3, 3, 50, 99]))
    assert hashes.tolist() == [xxh64(b""), xxh64(data[3:50]), xxh64(data[50:99])]


@pytest.mark.parametrize("offsets", [[], [-1, 3], [0, 5], [2, 1], [0, 4, 3], [0, 2**62]])
def test_offsets_outside_the_bytes_are_refused(offsets: list[int]) -> None:
    content: NDArray[np.uint8] = np.zeros(4, dtype=np.uint8)
    with pytest.raises(ValueError, match="offsets must increase and lie within the bytes"):
        _kernel.hash_stretches(content, np.array(offsets, dtype=np.int64))
