import LodestoreBytes

/// The place of a record in a place index.
///
/// See Format.md, "Place indexes".
package enum IndexedPlace: Sendable, Equatable {
  /// The latitude or the longitude is null.
  case none
  /// The value of the source with this number is not a latitude or longitude.
  case invalid(source: Int)
  case at(latitude: Double, longitude: Double)

  package init(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude) else {
      self = .invalid(source: 0)
      return
    }
    self =
      (-180...180).contains(longitude)
      ? .at(latitude: latitude, longitude: longitude) : .invalid(source: 1)
  }

  /// Reads the place of a record.
  package init(
    of index: EntityDescription.ComputedIndex, in view: RecordView, _ entity: EntityDescription
  ) throws(FormatError) {
    guard index.sources.count == 2,
      let latitude = try Self.number(index.sources[0], in: view, entity),
      let longitude = try Self.number(index.sources[1], in: view, entity)
    else {
      self = .none
      return
    }
    self.init(latitude: latitude, longitude: longitude)
  }

  /// The number of a source; `nil` for null, and NaN for a value that is no number.
  private static func number(
    _ source: EntityDescription.ComputedIndex.Source, in view: RecordView,
    _ entity: EntityDescription
  ) throws(FormatError) -> Double? {
    var value = Value.null
    if let position = view.layout.slotIndex(ofAttribute: source.attribute) {
      let slot = view.layout.slots[position]
      if view.isNull(slot) { return nil }
      if slot.type.isDocument { return try number(at: source.path, in: view.variableBytes(slot)) }
      value = try view.value(at: slot)
    } else {
      value = entity.attribute(number: source.attribute)?.initial ?? .null
    }
    switch value {
    case .null: return nil
    case .double(let number): return number
    case .integer(let number): return Double(number)
    case .decimal(let number): return number.nearestDouble
    case .document(let bytes):
      return try bytes._withBytes { (bytes) throws(FormatError) in
        try number(at: source.path, in: bytes)
      }
    default: return .nan
    }
  }

  private static func number(
    at path: [String], in document: ByteView
  ) throws(FormatError) -> Double? {
    var document = document
    for name in path {
      guard try DocumentReader(document).kind() == .object else {
        return try DocumentReader(document).kind() == .null ? nil : .nan
      }
      guard let member = try DocumentReader.member(named: name, in: document) else { return nil }
      document = member
    }
    var reader = DocumentReader(document)
    switch try reader.kind() {
    case .null: return nil
    case .double: return try reader.double()
    case .integer: return Double(try reader.int64())
    case .decimal: return try reader.decimal().nearestDouble
    default: return .nan
    }
  }
}
