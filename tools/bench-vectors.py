"""Measures numpy and sqlite-vec on the vectors of `tools/bench --vectors`: bench-vectors.py FILE [RECORDS [QUERIES]].

Each library compares all vectors, so its recall is 1. A library that Python does not have is left out.
"""

import ast
import mmap
import sqlite3
import sys
import tempfile
import time


def median(name, queries, run):
    times = []
    for query in queries:
        start = time.process_time()
        run(query)
        times.append(time.process_time() - start)
    times.sort()
    print(f"  10 nearest of {name}: median {times[len(times) // 2] * 1e3:.1f} ms, worst {times[-1] * 1e3:.1f} ms",
          flush=True)


def measure_numpy(numpy, rows, width, count, queries):
    vectors = numpy.frombuffer(rows[:count * width], dtype="<f4").reshape(count, -1).copy()
    queries = [numpy.frombuffer(query, dtype="<f4") for query in queries]
    groups = numpy.arange(count) % 100

    def nearest(query):
        scores = vectors @ query
        best = numpy.argpartition(-scores, 10)[:10]
        return best[numpy.argsort(-scores[best])]

    def nearest_of_group(query):
        members = numpy.flatnonzero(groups == 7)
        return members[numpy.argsort(-(vectors[members] @ query))[:10]]

    median("all, numpy", queries, nearest)
    median("one of 100 groups, numpy", queries, nearest_of_group)


def measure_sqlite(sqlite_vec, rows, width, count, queries):
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(f"{folder}/vectors.sqlite")
        database.enable_load_extension(True)
        sqlite_vec.load(database)
        database.execute(
            f"CREATE VIRTUAL TABLE items USING vec0(kind integer, embedding float[{width // 4}] "
            "distance_metric=cosine)")
        start = time.process_time()
        database.executemany(
            "INSERT INTO items(rowid, kind, embedding) VALUES (?, ?, ?)",
            ((i + 1, i % 100, rows[i * width:(i + 1) * width]) for i in range(count)))
        database.commit()
        print(f"  sqlite-vec: insert CPU {time.process_time() - start:.1f} s", flush=True)
        for name, condition in (("all, sqlite-vec", ""), ("one of 100 groups, sqlite-vec", " AND kind = 7")):
            median(name, queries, lambda query, condition=condition: database.execute(
                f"SELECT rowid FROM items WHERE embedding MATCH ? AND k = 10{condition}", (query,)).fetchall())


def main(path, records=None, count=100):
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = 10 + int.from_bytes(data[8:10], "little")
    total, dimensions = ast.literal_eval(data[10:start].decode().strip())["shape"]
    width, rows = 4 * dimensions, memoryview(data)[start:]
    queries = [bytes(rows[(total - 1 - i) * width:(total - i) * width]) for i in range(10)]
    stored = min(records or total, total - count)
    try:
        import numpy
    except ImportError:
        print("  numpy is not there")
    else:
        measure_numpy(numpy, rows, width, stored, queries)
    try:
        import sqlite_vec
    except ImportError:
        print("  sqlite-vec is not there")
    else:
        if hasattr(sqlite3.Connection, "enable_load_extension"):
            measure_sqlite(sqlite_vec, rows, width, stored, queries)
        else:
            print("  sqlite-vec is left out, as this Python loads no extensions of SQLite")


main(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
