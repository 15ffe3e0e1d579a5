#!/usr/bin/env python3
"""The algorithm once more, in Python on `mmh3`, so that a mistake in the Rust code cannot confirm itself.

    vectors.py            writes vectors.json
    vectors.py --check    says whether vectors.json is what this algorithm gives (exit code 1 if not)

Needs: pip install mmh3
"""

import hashlib
import hmac
import json
import pathlib
import sys

import mmh3

FILE = pathlib.Path(__file__).with_name("vectors.json")
BUCKETS = 10_000

SALTS = ["shop/web/v2", "shop/web/v3", "", "team-ü/naïve/2026-11-21-a", "autumn-train"]
# HMAC pads keys up to its block of 64 bytes and hashes longer ones.
IDENTITY_KEYS = [bytes(range(16)), bytes(range(100, 164)), bytes(range(65)) + b"longer than a block"]
WEIGHTS = [0, 1, 2_500, 9_999, 10_000]


def identity_of(key, identity_key=None):
    """16 hexadecimal digits: who the user is."""
    if identity_key is not None:
        return hmac.new(identity_key, key, hashlib.sha256).hexdigest()[:16]
    return "%016x" % mmh3.hash64(key, 0, signed=False)[0]


def bucket_of(identity, salt):
    """0 to 9,999: where the user stands in a release of this salt."""
    seed = mmh3.hash(salt.encode(), 0, signed=False)
    return mmh3.hash(identity.encode(), seed, signed=False) * BUCKETS >> 32


def keys():
    """Empty, one byte, every length up to 40, long, text of several scripts, bytes that are no text."""
    yield from (bytes((7 * place + 31 * length) % 256 for place in range(length)) for length in range(41))
    yield from (b"a", b"\x00", b"\xff", b"4b1d7c0e5f", b"JSESSIONID0123456789ABCDEF.node1")
    yield from (text.encode() for text in ["ana@example.com", "użytkownik", "用户-四十二", "🛒🛒", "مستخدم"])
    yield from (b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"a=1; b\x00\xfe", bytes(range(256)) * 16)


def rows():
    for number, key in enumerate(keys()):
        for keyed in (False, True):
            identity_key = IDENTITY_KEYS[number % len(IDENTITY_KEYS)] if keyed else None
            identity = identity_of(key, identity_key)
            for turn, weight in enumerate(WEIGHTS):
                yield row(key, SALTS[(number + turn) % len(SALTS)], identity_key, identity, weight)
            # The two weights between which this user changes sides.
            salt = SALTS[number % len(SALTS)]
            edge = bucket_of(identity, salt)
            yield row(key, salt, identity_key, identity, edge)
            yield row(key, salt, identity_key, identity, edge + 1)


def row(key, salt, identity_key, identity, weight):
    bucket = bucket_of(identity, salt)
    return {
        "key_hex": key.hex(),
        "salt": salt,
        "identity_key_hex": None if identity_key is None else identity_key.hex(),
        "identity": identity,
        "bucket": bucket,
        "weight": weight,
        "canary": bucket < weight,
    }


def main():
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows())
    text = f"[\n{lines}\n]\n"
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text, encoding="utf-8")
        return 0
    expected, found = text.splitlines(), FILE.read_text(encoding="utf-8").splitlines()
    for number, pair in enumerate(zip(expected, found), start=1):
        if pair[0] != pair[1]:
            print(f"{FILE.name}:{number}: expected {pair[0]}\nfound {pair[1]}", file=sys.stderr)
            return 1
    if len(expected) != len(found):
        print(f"{FILE.name}: expected {len(expected)} lines, found {len(found)}", file=sys.stderr)
        return 1
    print(f"{len(expected) - 2} vectors agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
