internal import LodestoreFormat

/// A condition on places or vectors whose index is known.
///
/// Such conditions are objects, because copying a plan's condition then copies only references.
protocol BoundProximity: AnyObject, Sendable {
  var index: StoredComputedIndex { get }
  /// The condition as text, for plans.
  var text: String { get }
  /// Whether records have a distance.
  var isNear: Bool { get }
  func admits(_ record: RecordUnderTest, _ entity: StoredEntity) throws(FormatError) -> Bool
  /// The distance of a record; `nil` if it has none.
  func distance(_ record: RecordUnderTest, _ entity: StoredEntity) throws(FormatError) -> Double?
}

/// A condition on places whose index is known.
final class BoundPlace: BoundProximity {
  let index: StoredComputedIndex
  let cover: PlaceCover
  let text: String

  init(_ index: StoredComputedIndex, _ region: PlaceRegion, text: String) {
    self.index = index
    cover = PlaceCover(region)
    self.text = text
  }

  /// The place from which distances are measured; `nil` for a box.
  var center: Coordinate? {
    if case .circle(let center, _) = cover.region { center } else { nil }
  }

  var isNear: Bool { center != nil }

  /// The place of a record; `nil` if it has none.
  func coordinate(
    _ record: RecordUnderTest, _ entity: StoredEntity
  ) throws(FormatError) -> Coordinate? {
    let place = try IndexedPlace(of: index.description, in: record.view, entity.description)
    guard case .at(let latitude, let longitude) = place else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }

  func admits(_ record: RecordUnderTest, _ entity: StoredEntity) throws(FormatError) -> Bool {
    try coordinate(record, entity).map(cover.region.contains) ?? false
  }

  /// The distance of a record from ``center``, in meters.
  func distance(_ record: RecordUnderTest, _ entity: StoredEntity) throws(FormatError) -> Double? {
    guard let center, let place = try coordinate(record, entity) else { return nil }
    return center.distance(to: place)
  }
}

extension Comparison.Operator {
  var isOfPlaces: Bool { self == .within || self == .near }
}

extension ValuePath {
  /// The name of the distance from the place or vector of a `NEAR` in orders and projections.
  static let distanceName = "_distance"
}

extension ConditionBinding {
  /// Binds `SELF WITHIN {…}` and `SELF NEAR {…}`, or those of an attribute in the index.
  func proximity(_ comparison: Comparison) throws(StoreError) -> any BoundProximity {
    if let vector = try vector(comparison) { return vector }
    let text = ConditionPrinter.text(.comparison(comparison))
    guard case .path(let path) = comparison.left, path.root == .record, !isOfRule,
      variables.isEmpty, comparison.quantifier == nil, comparison.options.isEmpty,
      let region = PlaceRegion(comparison)
    else {
      throw .badQuery(
        "a condition on places is 'SELF WITHIN {south, west, north, east}' in degrees or 'SELF "
          + "NEAR {latitude, longitude, meters}', not '\(text)'")
    }
    let sought = path.memberText
    let indexes = entity.computedIndexes(.place)
    for index in indexes {
      let names = entity.description.sourceNames(index.description)
      guard sought.isEmpty || names.contains(where: { $0 == sought || $0.hasPrefix(sought + ".") })
      else { continue }
      return BoundPlace(index, region, text: text)
    }
    let known = indexes.map(\.entries.name).joined(separator: ", ")
    let subject =
      sought.isEmpty
      ? "\(entity.name) has no place index" : "'\(entity.name).\(sought)' is in no place index"
    throw .badQuery(
      "\(subject); declare one, as by #Place<\(entity.name)>([\\.latitude, \\.longitude])"
        + (known.isEmpty ? "" : ". It has \(known)"))
  }

  /// The condition to which `_distance` refers; `nil` for another path.
  func measured(_ path: ValuePath) throws(StoreError) -> (any BoundProximity)? {
    guard path.isMember(ValuePath.distanceName),
      entity.description.attribute(named: ValuePath.distanceName) == nil
    else { return nil }
    guard let near = condition?.onlyNear else {
      throw .badQuery(
        "'_distance' is the distance from the place or vector of a NEAR, and the condition has no "
          + "NEAR, or several")
    }
    return near
  }
}

extension ValuePath {
  /// The names of the path's members, with points between them.
  var memberText: String {
    steps.map { if case .member(let name) = $0 { name } else { "?" } }.joined(separator: ".")
  }
}

extension PlaceRegion {
  /// The region of a comparison; `nil` if its right side has other values.
  fileprivate init?(_ comparison: Comparison) {
    guard case .values(let values) = comparison.right else { return nil }
    let numbers = values.compactMap { value -> Double? in
      switch value {
      case .double(let number): number
      case .integer(let number): Double(number)
      case .decimal(let number): number.nearestDouble
      default: nil
      }
    }
    guard numbers.count == values.count else { return nil }
    switch (comparison.operator, numbers.count) {
    case (.within, 4):
      let box = BoundingBox(
        south: numbers[0], west: numbers[1], north: numbers[2], east: numbers[3])
      guard box.isValid else { return nil }
      self = .box(box)
    case (.near, 2), (.near, 3):
      let center = Coordinate(latitude: numbers[0], longitude: numbers[1])
      let meters = numbers.count == 3 ? numbers[2] : .infinity
      guard center.isValid, meters >= 0 else { return nil }
      self = .circle(center, meters: meters)
    default: return nil
    }
  }
}

extension BoundCondition {
  /// The `NEAR` of the condition, if it has one alone.
  var onlyNear: (any BoundProximity)? {
    var found: [any BoundProximity] = []
    _ = has { part in
      if case .proximity(let one) = part, one.isNear { found.append(one) }
      return false
    }
    return found.count == 1 ? found.first : nil
  }
}
