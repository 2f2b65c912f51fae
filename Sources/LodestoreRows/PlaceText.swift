package import EntityStore

/// A place and a distance from it, as people type them: `54.8,61.1`, `54.8° N, 61.1° E` or
/// `54.8,61.1,500km`.
package struct NearPlace: Hashable, Sendable {
  package var place: Coordinate
  /// The distance in meters; `nil` for any distance.
  package var meters: Double?

  package init(_ place: Coordinate, meters: Double? = nil) {
    self.place = place
    self.meters = meters
  }

  private static let units = [("km", 1_000.0), ("mi", 1_609.344), ("m", 1.0), ("", 1.0)]

  /// Parses a text; `nil` for a text of another form, or for numbers out of range.
  package init?(_ text: String) {
    let parts = PlaceText.parts(text)
    guard parts.count == 2 || parts.count == 3,
      let latitude = PlaceText.degrees(parts[0], "N", "S"),
      let longitude = PlaceText.degrees(parts[1], "E", "W"),
      (-90...90).contains(latitude), (-180...180).contains(longitude)
    else { return nil }
    place = Coordinate(latitude: latitude, longitude: longitude)
    guard parts.count == 3 else { return }
    guard let (unit, size) = Self.units.first(where: { parts[2].hasSuffix($0.0) }),
      let number = Double(PlaceText.trimmed(parts[2].dropLast(unit.count))), number >= 0,
      (number * size).isFinite
    else { return nil }
    meters = number * size
  }

  /// The text from which the place and the distance are parsed.
  package var text: String {
    PlaceText.joined([place.latitude, place.longitude])
      + (meters.map { ",\(PlaceText.distance($0))" } ?? "")
  }
}

/// Places and areas as text.
package enum PlaceText {
  /// The area of a text `south,west,north,east`; `nil` for another text.
  package static func box(_ text: String) -> BoundingBox? {
    let numbers = parts(text).compactMap { Double($0) }
    guard numbers.count == 4, parts(text).count == 4, numbers[0] <= numbers[2],
      (-90...90).contains(numbers[0]), (-90...90).contains(numbers[2]),
      (-180...180).contains(numbers[1]), (-180...180).contains(numbers[3])
    else { return nil }
    return BoundingBox(south: numbers[0], west: numbers[1], north: numbers[2], east: numbers[3])
  }

  package static func text(_ box: BoundingBox) -> String {
    joined([box.south, box.west, box.north, box.east])
  }

  /// A distance with its unit: `500km`, `1500m`.
  package static func distance(_ meters: Double) -> String {
    let kilometers = meters / 1_000
    return kilometers == kilometers.rounded() && kilometers >= 1 && kilometers * 1_000 == meters
      ? "\(number(kilometers))km" : "\(number(meters))m"
  }

  /// A latitude or longitude for people, with its direction and up to four decimals: `54.8° N`.
  package static func degrees(_ degrees: Double, isLatitude: Bool) -> String {
    let rounded = (abs(degrees) * 10_000).rounded() / 10_000
    let direction = isLatitude ? (degrees < 0 ? "S" : "N") : (degrees < 0 ? "W" : "E")
    return "\(number(rounded))°" + (rounded == 0 || rounded == 180 ? "" : " \(direction)")
  }

  /// A place for people: `54.8° N, 61.1° E`.
  package static func place(_ place: Coordinate) -> String {
    degrees(place.latitude, isLatitude: true) + ", "
      + degrees(place.longitude, isLatitude: false)
  }

  fileprivate static func joined(_ numbers: [Double]) -> String {
    numbers.map(number).joined(separator: ",")
  }

  /// The number without a zero after the point.
  private static func number(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
  }

  /// The degrees of a number with or without a sign for degrees and the letter of a direction.
  fileprivate static func degrees(
    _ text: Substring, _ positive: Character, _ negative: Character
  ) -> Double? {
    var number = text
    let direction = number.last.flatMap { [positive, negative].contains($0) ? $0 : nil }
    if direction != nil { number = trimmed(number.dropLast()) }
    if number.last == "°" { number = trimmed(number.dropLast()) }
    guard let degrees = Double(number), direction == nil || degrees >= 0 else { return nil }
    return direction == negative ? -degrees : degrees
  }

  fileprivate static func parts(_ text: String) -> [Substring] {
    text.split(separator: ",", omittingEmptySubsequences: false).map(trimmed)
  }

  fileprivate static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
