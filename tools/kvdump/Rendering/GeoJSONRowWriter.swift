/// Writes rows as one GeoJSON `FeatureCollection` (RFC 7946), a feature on each line.
///
/// The column ``placeName`` is the geometry and `_id` the feature's id; the other columns are
/// properties.
final class GeoJSONRowWriter: RowWriter {
  /// The name of the column with the coordinates of a point as JSON, or null for no geometry.
  static let placeName = "_place"

  private let names: [String]
  private let output: TextOutput
  private var hasRows = false
  private var line: [UInt8] = []

  init(_ columns: [Column], to output: TextOutput) {
    names = columns.map(\.name)
    self.output = output
  }

  func write(_ row: [Cell]) throws {
    guard names.contains(Self.placeName) else { throw CommandFailure.withoutPlaces }
    var members: [(String, Cell)] = [("type", .text("Feature"))]
    var geometry = Cell.null
    var properties: [(String, Cell)] = []
    for (name, cell) in zip(names, row) {
      switch (name, cell) {
      case (Self.placeName, .json(let coordinates)):
        geometry = .json(#"{"type":"Point","coordinates":\#(coordinates)}"#)
      case (Self.placeName, _): break
      case (RecordColumns.idName, _): members.append(("id", cell))
      default: properties.append((name, cell))
      }
    }
    members += [("geometry", geometry), ("properties", .json(CellJSON.object(properties)))]
    line.removeAll(keepingCapacity: true)
    line.append(contentsOf: (hasRows ? ",\n" : Self.beginning + "\n").utf8)
    hasRows = true
    line.append(contentsOf: CellJSON.object(members).utf8)
    try output.write(line)
  }

  private static let beginning = #"{"type":"FeatureCollection","features":["#

  func finish() throws {
    guard names.contains(Self.placeName) else { throw CommandFailure.withoutPlaces }
    try output.write(hasRows ? "\n]}\n" : Self.beginning + "]}\n")
  }
}

extension CommandFailure {
  static var withoutPlaces: CommandFailure {
    badArgument(
      "geojson", reason: "has places, and these rows have none",
      nextStep: "choose another --format, or records of an entity with a place index")
  }
}
