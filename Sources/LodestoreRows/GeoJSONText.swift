/// Rows as the features of a GeoJSON `FeatureCollection` (RFC 7946).
///
/// The column ``placeName`` is the geometry and ``idName`` the feature's id; the other columns are
/// properties.
package enum GeoJSONText {
  /// The name of the column with the coordinates of a point as JSON, or null for no geometry.
  package static let placeName = "_place"
  private static let idName = "_id"

  package static let beginning = #"{"type":"FeatureCollection","features":["#
  package static let end = "]}\n"

  /// The coordinates of a point.
  package static func coordinates(latitude: Double, longitude: Double) -> Cell {
    .json("[\(longitude),\(latitude)]")
  }

  /// The feature of a row.
  package static func feature(_ names: [String], _ row: [Cell]) -> String {
    var members: [(String, Cell)] = [("type", .text("Feature"))]
    var geometry = Cell.null
    var properties: [(String, Cell)] = []
    for (name, cell) in zip(names, row) {
      switch (name, cell) {
      case (placeName, .json(let coordinates)):
        geometry = .json(#"{"type":"Point","coordinates":\#(coordinates)}"#)
      case (placeName, _): break
      case (idName, _): members.append(("id", cell))
      default: properties.append((name, cell))
      }
    }
    members += [("geometry", geometry), ("properties", .json(CellJSON.object(properties)))]
    return CellJSON.object(members)
  }
}
