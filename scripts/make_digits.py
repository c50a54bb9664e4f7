#!/usr/bin/env python3
"""Make the built-in `digits` set from the CSV that scikit-learn ships.

    pip download --no-deps scikit-learn
    python3 scripts/make_digits.py scikit_learn-*.whl

Writes two gzipped IDX files (1797 images of 8x8 pixels from 0 to 16, and their labels) beside the
reader. The bytes are the same on every run.
"""

import gzip
import pathlib
import struct
import sys
import zipfile

CSV = "sklearn/datasets/data/digits.csv.gz"
OUT = pathlib.Path(__file__).parent.parent / "crates/fastgrnn/src/data/known/digits"


def main(wheel):
    text = gzip.decompress(zipfile.ZipFile(wheel).read(CSV)).decode("ascii")
    rows = [[int(cell) for cell in line.split(",")] for line in text.splitlines()]
    assert len(rows) == 1797 and all(len(row) == 65 for row in rows)
    assert all(0 <= pixel <= 16 for row in rows for pixel in row[:64])
    assert {row[64] for row in rows} == set(range(10))
    pixels = bytes(pixel for row in rows for pixel in row[:64])
    labels = bytes(row[64] for row in rows)
    write("images-idx3-ubyte.gz", struct.pack(">4I", 0x0803, len(rows), 8, 8) + pixels)
    write("labels-idx1-ubyte.gz", struct.pack(">2I", 0x0801, len(rows)) + labels)


def write(name, content):
    (OUT / name).write_bytes(gzip.compress(content, 9, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])
