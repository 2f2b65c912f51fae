"""Positions of places on a Hilbert curve. See Format.md, "Entries of places"."""

_FIELDS = 1 << 32


def position(latitude, longitude):
    """The position of the field of a place, or None for numbers that are no latitude and longitude."""
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        return None
    row = min(int((latitude + 90) / 180 * _FIELDS), _FIELDS - 1)
    column = 0 if longitude == 180 else min(int((longitude + 180) / 360 * _FIELDS), _FIELDS - 1)
    found = 0
    for shift in range(31, -1, -1):
        x, y = column >> shift & 1, row >> shift & 1
        found = found << 2 | (3 * x ^ y)
        if y == 0:
            if x == 1:
                column, row = ~column, ~row
            column, row = row, column
    return found


def key(latitude, longitude, record_id):
    """The key of a record's entry in a place index."""
    return position(latitude, longitude).to_bytes(8, "big") + record_id.to_bytes(8, "big")
