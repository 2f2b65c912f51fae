#if Search
  import BenchmarkFigures
  import EntityStore

  /// The points in SQLite: an R*Tree, whose coordinates have four bytes, with the exact ones in
  /// further columns.
  struct SQLitePlaces {
    private let session: SQLiteSession

    init(_ path: String) throws {
      session = try SQLiteSession(
        path,
        "CREATE VIRTUAL TABLE places USING rtree(id, south, north, west, east, +latitude, "
          + "+longitude)")
    }

    func insert(_ points: [Coordinate]) throws {
      try session.run("BEGIN")
      for (index, point) in points.enumerated() {
        try session.numbers(
          "INSERT INTO places VALUES (?1, ?2, ?2, ?3, ?3, ?2, ?3)", [], [index + 1],
          [point.latitude, point.longitude])
      }
      try session.run("COMMIT")
    }

    func ids(in box: BoundingBox) throws -> [Int] {
      try session.numbers(
        "SELECT id FROM places WHERE south >= ?1 AND west >= ?2 AND north <= ?3 AND east <= ?4",
        [], [], [box.south, box.west, box.north, box.east])
    }

    /// Finds the ten nearest of the points in a box, by the distance on a plane.
    func nearest(to point: Coordinate, half: Double) throws -> [Int] {
      try session.numbers(
        "SELECT id FROM places WHERE south >= ?1 - ?3 AND north <= ?1 + ?3 AND west >= ?2 - ?3 "
          + "AND east <= ?2 + ?3 ORDER BY (latitude - ?1) * (latitude - ?1) "
          + "+ (longitude - ?2) * (longitude - ?2) LIMIT 10", [], [],
        [point.latitude, point.longitude, half])
    }
  }
#endif
