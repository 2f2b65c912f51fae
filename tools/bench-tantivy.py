"""Measures Tantivy on the texts of `tools/bench --search`: bench-tantivy.py FILE."""

import os
import random
import re
import shutil
import sys
import tempfile
import time

import tantivy

RECORDS, QUERIES = 200_000, 400


def median(name, queries, run):
    times = []
    for query in queries:
        start = time.process_time()
        run(query)
        times.append(time.process_time() - start)
    times.sort()
    print(
        f"  {name}, Tantivy: median {times[len(times) // 2] * 1e6:.1f} us, "
        f"99 % {times[len(times) * 99 // 100] * 1e6:.1f} us"
    )


def main(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False)
    builder.add_integer_field("id", stored=True)
    builder.add_integer_field("kind", indexed=True, fast=True)
    schema = builder.build()
    folder = tempfile.mkdtemp()
    try:
        index = tantivy.Index(schema, path=folder)
        writer = index.writer(heap_size=512_000_000, num_threads=1)
        start = time.process_time()
        for number in range(RECORDS):
            writer.add_document(
                tantivy.Document(text=lines[number % len(lines)], id=number, kind=number % 100)
            )
        writer.commit()
        writer.wait_merging_threads()
        seconds = time.process_time() - start
        size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
        print(f"  Tantivy: {RECORDS} texts, CPU {seconds:.3f} s, all files {size / 1e6:.1f} MB")
        index.reload()
        searcher = index.searcher()
        words = [
            random.choice(found)
            for found in (re.findall("[a-z]{3,}", random.choice(lines).lower()) for _ in range(2 * QUERIES))
            if found
        ]
        pairs = [f"+{a} +{b}" for a, b in zip(words[::2], words[1::2])]

        def run(text):
            return searcher.search(index.parse_query(text, ["text"]), 10)

        median("two words, top 10", pairs, run)
        median("one of two words, top 10", [pair.replace("+", "") for pair in pairs], run)
        for count in (1, 10):
            conditioned = [f"+{word} +kind:[0 TO {count - 1}]" for word in words[:QUERIES]]
            median(f"a word in {count} % of the texts, top 10", conditioned, run)
    finally:
        shutil.rmtree(folder)


main(sys.argv[1])
