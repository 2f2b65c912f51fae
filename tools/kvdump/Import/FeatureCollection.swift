import EntityStore

/// A GeoJSON `FeatureCollection` (RFC 7946) of points, as records.
enum FeatureCollection {
  /// The records as a JSON array: the properties of each feature with `latitude` and `longitude`.
  ///
  /// A property of one of these names is replaced. A feature without a geometry has null for both.
  /// Returns `nil` for a value that is no `FeatureCollection`.
  static func records(of root: JSONNode) throws(FeatureError) -> [UInt8]? {
    guard root.kind == .object, root["type"]?.string == "FeatureCollection",
      let features = root["features"], features.kind == .array
    else { return nil }
    var output: [UInt8] = [UInt8(ascii: "[")]
    for (index, feature) in features.elements.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      try append(feature, index + 1, to: &output)
    }
    output.append(UInt8(ascii: "]"))
    return output
  }

  private static func append(
    _ feature: JSONNode, _ number: Int, to output: inout [UInt8]
  ) throws(FeatureError) {
    guard feature.kind == .object, feature["type"]?.string == "Feature" else {
      throw FeatureError(number: number, reason: "is no Feature")
    }
    let coordinates = try coordinates(of: feature["geometry"], number)
    var members: [(String, Cell)] = []
    if let properties = feature["properties"], properties.kind == .object {
      for (name, value) in properties.members where name != "latitude" && name != "longitude" {
        members.append((name, .json(value.sourceText)))
      }
    }
    members.append(("latitude", coordinates.map { .json($0[1].sourceText) } ?? .null))
    members.append(("longitude", coordinates.map { .json($0[0].sourceText) } ?? .null))
    output.append(contentsOf: CellJSON.object(members).utf8)
  }

  /// The longitude and the latitude; `nil` without a geometry.
  private static func coordinates(
    of geometry: JSONNode?, _ number: Int
  ) throws(FeatureError) -> [JSONNode]? {
    guard let geometry, geometry.kind != .null else { return nil }
    guard geometry.kind == .object, geometry["type"]?.string == "Point" else {
      throw FeatureError(number: number, reason: "has a geometry that is no Point")
    }
    guard let coordinates = geometry["coordinates"], coordinates.kind == .array,
      coordinates.count >= 2, coordinates.elements.allSatisfy({ $0.double != nil })
    else {
      throw FeatureError(number: number, reason: "has a Point without a longitude and a latitude")
    }
    return Array(coordinates.elements)
  }
}

extension JSONNode {
  /// The value as it is written in the file.
  fileprivate var sourceText: String { withSourceBytes { String(decoding: $0, as: UTF8.self) } }
}

/// A feature that is no record.
struct FeatureError: Error, CustomStringConvertible {
  let number: Int
  let reason: String

  var description: String { "feature \(number) \(reason)" }
}
