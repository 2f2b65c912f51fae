import ArgumentParser

/// The attributes with the places of records, for GeoJSON of an entity without a place index.
struct PlaceOptions: ParsableArguments {
  @Option(
    help: .value(
      "With --format geojson: the attribute or dotted path with the latitude, unless the first "
        + "place index has the places.", "path"))
  var latitude: String?

  @Option(help: .value("The attribute or dotted path with the longitude.", "path"))
  var longitude: String?

  /// Checks the options of a command with this format of rows.
  func check(_ format: OutputFormat?) throws(ValidationError) {
    try refuse(
      if: (latitude == nil) != (longitude == nil),
      "--latitude and --longitude: give both, or none of them")
    try refuse(
      if: latitude != nil && format != .geojson, "--latitude: only with --format geojson")
  }

  /// The paths of both numbers; `nil` without the options.
  var paths: (latitude: String, longitude: String)? {
    guard let latitude, let longitude else { return nil }
    return (latitude, longitude)
  }
}
