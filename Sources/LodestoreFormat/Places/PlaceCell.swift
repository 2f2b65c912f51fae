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

  /// ``isSwapped`` in the lowest bit and ``isFlipped`` in the next one.
  private var direction: UInt32 {
    get { (isSwapped ? 1 : 0) | (isFlipped ? 2 : 0) }
    set { (isSwapped, isFlipped) = (newValue & 1 != 0, newValue & 2 != 0) }
  }

  private init() {}

  /// The whole grid.
  package static let whole = PlaceCell()

  /// The field of a coordinate.
  ///
  /// Valid coordinates are `latitude` from -90 to 90 and `longitude` from -180 to 180. The
  /// meridians -180 and 180 are one.
  package init(latitude: Double, longitude: Double) {
    let (column, row) = (Self.column(longitude), Self.row(latitude))
    let steps = CurveSteps.shared
    (x, y) = (UInt64(column), UInt64(row))
    for shift in stride(from: 28 as UInt32, through: 0, by: -4) {
      let step = steps.toPosition(column &>> shift & 15, row &>> shift & 15, direction)
      position = position << 8 | UInt64(step & 0xff)
      direction = step &>> 8
    }
    level = Self.deepestLevel
  }

  /// The field at a position of the curve.
  package init(position: UInt64) {
    let steps = CurveSteps.shared
    for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
      let byte = UInt32(truncatingIfNeeded: position &>> shift) & 0xff
      let step = steps.fromPosition(byte, direction)
      x = x << 4 | UInt64(step & 15)
      y = y << 4 | UInt64(step &>> 4 & 15)
      direction = step &>> 8
    }
    self.position = position
    level = Self.deepestLevel
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
  package var quarters: [PlaceCell] { (0..<4 as Range<UInt32>).map(quarter) }

  /// One of the four quarters, from 0.
  package func quarter(_ number: UInt32) -> PlaceCell {
    var cell = self
    cell.descend(number >> 1, number & 1)
    return cell
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

/// Tables of four levels of the curve at once, by the direction of the curve before them.
private struct CurveSteps: Sendable {
  static let shared = CurveSteps()

  /// By a byte of a position: the column, the row times 16, and the direction after them times 256.
  private var places = [UInt16](repeating: 0, count: 4 * 256)
  /// By a column and a row times 16: the byte of the position, and the direction times 256.
  private var positions = [UInt16](repeating: 0, count: 4 * 256)

  private init() {
    for direction in 0..<4 as Range<UInt32> {
      for place in 0..<256 as Range<UInt32> {
        let (position, next) = PlaceCell.position(ofColumn: place & 15, row: place >> 4, direction)
        positions[Int(direction << 8 | place)] = UInt16(next << 8 | position)
        places[Int(direction << 8 | position)] = UInt16(next << 8 | place)
      }
    }
  }

  @inline(__always)
  func fromPosition(_ byte: UInt32, _ direction: UInt32) -> UInt32 {
    UInt32(places[Int(direction &<< 8 | byte)])
  }

  @inline(__always)
  func toPosition(_ column: UInt32, _ row: UInt32, _ direction: UInt32) -> UInt32 {
    UInt32(positions[Int(direction &<< 8 | row &<< 4 | column)])
  }
}

extension PlaceCell {
  /// The position of a cell of four levels within a cell of a direction, and the direction after.
  fileprivate static func position(
    ofColumn column: UInt32, row: UInt32, _ direction: UInt32
  ) -> (position: UInt32, direction: UInt32) {
    var cell = PlaceCell.whole
    cell.direction = direction
    for shift in (0..<4 as Range<UInt32>).reversed() {
      cell.descend(column >> shift & 1, row >> shift & 1)
    }
    return (UInt32(cell.position), cell.direction)
  }
}

extension Double {
  /// The number within the range of a column or row.
  fileprivate var clamped: Double { Swift.min(Swift.max(self, 0), 0x1p32 - 1) }
}
