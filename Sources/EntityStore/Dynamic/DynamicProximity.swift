internal import LMDB
package import LodestoreFormat

extension DynamicSnapshot {
  /// Visits the places of an index within an area, until `body` returns false.
  ///
  /// No record is read. A place is known to a centimeter, so places at the border of the area may
  /// be a centimeter outside. Expired records are left out. The order is that of the index.
  ///
  /// - Returns: false if `body` returned false, or if `control` ended the walk.
  package func forEachPlace(
    of index: DynamicIndex, of entity: DynamicEntity, in box: BoundingBox,
    control: RunControl = RunControl(), _ body: (Coordinate, UInt64) throws -> Bool
  ) throws -> Bool {
    let cover = PlaceCover(.box(box))
    let entries = try PlaceEntries(index.stored, in: core.transaction)
    let expired = try core.expired(of: entity.stored)
    var readCount = 0
    var isComplete = true
    for range in cover.ranges() where isComplete {
      try entries.forEach(in: IndexRange(positions: range)) { field, id in
        readCount &+= 1
        if readCount % 1_024 == 0, control.isCancelled() {
          isComplete = false
        } else if cover.admits(field) != false, expired?.contains(id) != true {
          isComplete = try body(Coordinate(of: field), id)
        }
        return isComplete
      }
    }
    return isComplete
  }

  /// An estimate of the number of places of an index within an area.
  ///
  /// A few pages of the tree are read, whatever its size.
  package func estimatedPlaceCount(of index: DynamicIndex, in box: BoundingBox) throws -> Int {
    try PlaceCover(.box(box)).ranges().reduce(0) { try $0 + estimatedCount(of: index, $1) }
  }

  /// The cells of a grid that have places of an index, with estimates of their numbers.
  ///
  /// The cells overlap the area. All cells have 360 / 2^`level` degrees of longitude, and half as
  /// many of latitude.
  ///
  /// - Parameters:
  ///   - level: the number of times that the sides of the grid are halved, at most 32.
  ///   - most: the number of cells beyond which the cells are not divided further, and then have a
  ///     lower level.
  /// - Complexity: O(*c* · log *n*) for *c* cells and *n* entries.
  package func placeCells(
    of index: DynamicIndex, in box: BoundingBox, level: Int, most: Int
  ) throws -> [(area: BoundingBox, count: Int)] {
    let rectangles = PlaceCover(.box(box)).rectangles
    var cells = [(cell: PlaceCell.whole, count: 1)]
    for _ in 0..<min(level, PlaceCell.deepestLevel) {
      var next: [(cell: PlaceCell, count: Int)] = []
      for cell in cells.flatMap(\.cell.quarters)
      where rectangles.contains(where: { $0.overlaps(cell) }) {
        let count = try estimatedCount(of: index, cell.positions)
        if count > 0 { next.append((cell: cell, count: count)) }
      }
      if next.count > most { break }
      cells = next
    }
    return cells.map { (area: BoundingBox(of: $0.cell), count: $0.count) }
  }

  private func estimatedCount(
    of index: DynamicIndex, _ positions: ClosedRange<UInt64>
  ) throws -> Int {
    try core.transaction.estimatedCount(
      of: index.stored.tree, within: IndexRange(positions: positions).keys)
  }
}

extension DynamicEntity {
  /// The place of a record by a place index; `nil` if the record has none.
  ///
  /// - Parameter position: the position of the index among the declared place indexes, which need
  ///   not be complete.
  package func place(
    in reader: DynamicRecord.Reader, by position: Int = 0
  ) throws(FormatError) -> Coordinate? {
    let indexes = description.declaredIndexes(.place)
    guard indexes.indices.contains(position),
      case .at(let latitude, let longitude) = try IndexedPlace(
        of: indexes[position], in: reader.view, description)
    else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }

  /// The vector of a record by a vector index; `nil` if the record has none.
  ///
  /// - Parameter position: the position of the index among the declared vector indexes, which need
  ///   not be complete.
  package func vector(in reader: DynamicRecord.Reader, by position: Int = 0) -> Vector? {
    let indexes = description.declaredIndexes(.vector)
    guard indexes.indices.contains(position) else { return nil }
    return IndexedVector(of: indexes[position], in: reader.view, description).vector.map {
      Vector($0)
    }
  }
}

/// The distance of records from the place or vector of a query's condition.
package struct DynamicDistance: Sendable {
  let proximity: any BoundProximity
  let entity: StoredEntity

  /// The measure of the distance between vectors; `nil` for a distance in meters between places.
  package var measure: VectorMeasure? { (proximity as? BoundVector)?.measure }

  /// Whether the condition leaves out records beyond some distance.
  package var isBounded: Bool {
    guard case .circle(_, let meters)? = (proximity as? BoundPlace)?.cover.region else {
      return false
    }
    return meters < .infinity
  }

  /// The distance of a record; `nil` if the record has no place or vector.
  package func distance(of reader: DynamicRecord.Reader) throws(FormatError) -> Double? {
    try proximity.distance(RecordUnderTest(view: reader.view, id: 0), entity)
  }
}

extension DynamicQuery {
  /// The distance by which `_distance` orders the records; `nil` unless the condition has one
  /// `NEAR`.
  package var distance: DynamicDistance? {
    plan.condition.onlyNear.map { DynamicDistance(proximity: $0, entity: plan.entity) }
  }
}

extension BoundingBox {
  fileprivate init(of cell: PlaceCell) {
    let (rows, columns) = (PlaceCell.latitudes(cell.rows), PlaceCell.longitudes(cell.columns))
    self.init(
      south: rows.lowerBound, west: columns.lowerBound, north: rows.upperBound,
      east: columns.upperBound)
  }
}
