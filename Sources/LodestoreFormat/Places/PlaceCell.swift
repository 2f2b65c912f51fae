/// A cell of the grid over latitudes and longitudes, in the order of a Hilbert curve.
///
/// The grid has 2³² columns from west to east and 2³² rows from south to north. A cell of level
/// *l* has 2^(32−*l*) columns and rows of the grid; a cell of level 32 is one field. The fields of
/// a cell follow one another on the curve. See Format.md, "Place indexes".
package struct PlaceCell: Sendable, Hashable {
  package static let deepestLevel = 32

  /// The number of times that the sides of the grid were halved.
  package private(set) var level = 0
  /// The number of the cell's column among the columns of its level.
  private var x: UInt64 = 0
  private var y: UInt64 = 0
  /// The number of the cell among the cells of its level on the curve.
  private var position: UInt64 = 0
  /// The direction of the curve within the cell.
  private var isSwapped = false
  private var isFlipped = false

  private init() {}

  /// The whole grid.
  package static let whole = PlaceCell()

  /// The field of a coordinate.
  ///
  /// Valid coordinates are `latitude` from -90 to 90 and `longitude` from -180 to 180. The
  /// meridians -180 and 180 are one.
  package init(latitude: Double, longitude: Double) {
    let (column, row) = (Self.column(longitude), Self.row(latitude))
    for shift in (0..<32 as Range<UInt32>).reversed() {
      descend(column &>> shift & 1, row &>> shift & 1)
    }
  }

  /// The field at a position of the curve.
  package init(position: UInt64) {
    for shift in stride(from: 62, through: 0, by: -2) {
      let digit = UInt32(truncatingIfNeeded: position &>> UInt64(shift)) & 3
      // The digits 0 to 3 are the quarters (0, 0), (0, 1), (1, 1) and (1, 0).
      let a = (digit >> 1) ^ (isFlipped ? 1 : 0)
      let b = (digit ^ (digit >> 1)) & 1 ^ (isFlipped ? 1 : 0)
      descend(isSwapped ? b : a, isSwapped ? a : b)
    }
  }

  /// The column of the grid with a longitude.
  package static func column(_ longitude: Double) -> UInt32 {
    longitude == 180 ? 0 : UInt32(((longitude + 180) / 360 * 0x1p32).clamped)
  }

  /// The row of the grid with a latitude.
  package static func row(_ latitude: Double) -> UInt32 {
    UInt32(((latitude + 90) / 180 * 0x1p32).clamped)
  }

  @inline(__always)
  private mutating func descend(_ column: UInt32, _ row: UInt32) {
    let flip: UInt32 = isFlipped ? 1 : 0
    let a = (isSwapped ? row : column) ^ flip
    let b = (isSwapped ? column : row) ^ flip
    level &+= 1
    x = x << 1 | UInt64(column)
    y = y << 1 | UInt64(row)
    position = position << 2 | UInt64((3 &* a) ^ b)
    if b == 0 {
      if a == 1 { isFlipped.toggle() }
      isSwapped.toggle()
    }
  }

  /// The four quarters of the cell.
  package var quarters: [PlaceCell] {
    (0..<4 as Range<UInt32>).map { number in
      var cell = self
      cell.descend(number >> 1, number & 1)
      return cell
    }
  }

  /// The positions of the cell's fields on the curve.
  package var positions: ClosedRange<UInt64> {
    let shift = UInt64(2 * (Self.deepestLevel - level))
    let low = position << shift
    return low...(low | ((1 << shift) &- 1))
  }

  package var columns: ClosedRange<UInt32> { fields(x) }
  package var rows: ClosedRange<UInt32> { fields(y) }

  private func fields(_ number: UInt64) -> ClosedRange<UInt32> {
    let shift = UInt64(Self.deepestLevel - level)
    let low = number << shift
    return UInt32(low)...UInt32(low + (1 << shift) - 1)
  }

  /// The bounds of some columns, in degrees.
  package static func longitudes(_ columns: ClosedRange<UInt32>) -> ClosedRange<Double> {
    let low = Double(columns.lowerBound) / 0x1p32 * 360 - 180
    return low...(Double(UInt64(columns.upperBound) + 1) / 0x1p32 * 360 - 180)
  }

  /// The bounds of some rows, in degrees.
  package static func latitudes(_ rows: ClosedRange<UInt32>) -> ClosedRange<Double> {
    let low = Double(rows.lowerBound) / 0x1p32 * 180 - 90
    return low...(Double(UInt64(rows.upperBound) + 1) / 0x1p32 * 180 - 90)
  }
}

extension Double {
  /// The number within the range of a column or row.
  fileprivate var clamped: Double { Swift.min(Swift.max(self, 0), 0x1p32 - 1) }
}
