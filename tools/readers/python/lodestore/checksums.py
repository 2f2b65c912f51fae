"""CRC-32C, the checksum of Format.md."""


def _make_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _make_table()

try:
    from google_crc32c import value as crc32c  # if it is there: a hundred times as fast
except ImportError:

    def crc32c(data):
        """The checksum of `data`."""
        table, state = _TABLE, 0xFFFFFFFF
        for byte in data:
            state = state >> 8 ^ table[(state ^ byte) & 0xFF]
        return state ^ 0xFFFFFFFF
