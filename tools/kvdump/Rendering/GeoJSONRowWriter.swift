/// Writes rows as one GeoJSON `FeatureCollection`, a feature on each line.
final class GeoJSONRowWriter: RowWriter {
  private let names: [String]
  private let output: TextOutput
  private var hasRows = false

  init(_ columns: [Column], to output: TextOutput) {
    names = columns.map(\.name)
    self.output = output
  }

  func write(_ row: [Cell]) throws {
    guard names.contains(GeoJSONText.placeName) else { throw CommandFailure.withoutPlaces }
    let feature = (hasRows ? ",\n" : GeoJSONText.beginning + "\n") + GeoJSONText.feature(names, row)
    hasRows = true
    try output.write(Array(feature.utf8))
  }

  func finish() throws {
    guard names.contains(GeoJSONText.placeName) else { throw CommandFailure.withoutPlaces }
    try output.write((hasRows ? "\n" : GeoJSONText.beginning) + GeoJSONText.end)
  }
}

extension CommandFailure {
  static var withoutPlaces: CommandFailure {
    badArgument(
      "geojson", reason: "has places, and these rows have none",
      nextStep: "choose another --format, records of an entity with a place index, or the "
        + "attributes by --latitude and --longitude")
  }
}
