"""python -m lodestore FILE [ENTITY]: the entities of a file, or the records of one as JSON Lines."""

import argparse
import base64
import datetime
import decimal
import json
import math
import sys
import uuid

from . import DamagedFile, NotAStore, Overtaken, UnsupportedFormat, open as open_store


def plain(value):
    """A value in the form of JSON: dates as RFC 3339, data in base64, decimals as text."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, datetime.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m lodestore", description=__doc__)
    parser.add_argument("file", help="the store")
    parser.add_argument("entity", nargs="?", help="prints its records, one JSON object a line")
    parser.add_argument("--limit", type=int, default=None, help="at most so many records")
    parser.add_argument("--no-verify", action="store_true", help="does not compare checksums: faster")
    options = parser.parse_args(arguments)
    if options.limit is not None and options.limit < 0:
        parser.error("--limit must not be negative")
    try:
        with open_store(options.file, verify=not options.no_verify) as store:
            if options.entity is None:
                for entity in store.entities:
                    attributes = ", ".join(
                        f"{one.name}: {one.type}{'?' if one.optional else ''}" for one in entity.attributes
                    )
                    print(f"{entity.name} ({len(entity)} records): {attributes}")
                return 0
            for index, row in enumerate(store.entity(options.entity)):
                if index == options.limit:
                    break
                print(json.dumps(plain(row), ensure_ascii=False))
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyError as error:
        print(f"lodestore: {error.args[0]}", file=sys.stderr)
        return 64
    except (DamagedFile, NotAStore, Overtaken, UnsupportedFormat, OSError) as error:
        print(f"lodestore: {error}", file=sys.stderr)
        return 65
    return 0


if __name__ == "__main__":
    sys.exit(main())
