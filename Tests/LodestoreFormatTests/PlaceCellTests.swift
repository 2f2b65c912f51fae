import LodestoreFormat
import Testing

@Suite struct `Positions of places` {
  /// The position by the steps of Format.md, "Entries of places", one bit at a time.
  private func position(_ column: UInt32, _ row: UInt32) -> UInt64 {
    var (column, row, position) = (column, row, 0 as UInt64)
    for shift in (0..<32 as Range<UInt32>).reversed() {
      let (x, y) = (column >> shift & 1, row >> shift & 1)
      position = position * 4 + UInt64(3 * x ^ y)
      if y == 0, x == 1 { (column, row) = (~column, ~row) }
      if y == 0 { (column, row) = (row, column) }
    }
    return position
  }

  @Test func `the tables give the positions that follow from single bits`() {
    var numbers = SystemRandomNumberGenerator()
    let ends: [(Double, Double)] = [(-90, -180), (90, 180), (90, 179.9999999), (0, 0)]
    let places =
      ends
      + (0..<20_000).map { _ in
        (Double.random(in: -90...90, using: &numbers), .random(in: -180...180, using: &numbers))
      }
    for (latitude, longitude) in places {
      let cell = PlaceCell(latitude: latitude, longitude: longitude)
      let (column, row) = (PlaceCell.column(longitude), PlaceCell.row(latitude))
      #expect(cell.columns == column...column && cell.rows == row...row)
      #expect(cell.positions.lowerBound == position(column, row), "\(latitude), \(longitude)")
      #expect(PlaceCell(position: cell.positions.lowerBound) == cell, "\(latitude), \(longitude)")
    }
  }
}
