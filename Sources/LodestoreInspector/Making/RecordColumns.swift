internal import EntityStore
internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestoreRows

/// The columns in which records of one entity are shown, and their values.
struct RecordColumns: Sendable {
  private enum Source: Sendable {
    case id
    case attribute(EntityDescription.Attribute, target: String?)
    /// A value inside a JSON or document attribute.
    case path(EntityDescription.Attribute, [String])
    case distance(DynamicDistance)
    /// The numbers of a vector, for people.
    case vector(position: Int)
    /// The coordinates of a place, as GeoJSON has them.
    case coordinates(position: Int)
  }

  private let entity: DynamicEntity
  private var sources: [Source] = []
  private(set) var headings: [Table.Heading] = []

  /// The number of attributes that a table shows unless the address names columns.
  static let usualCount = 12

  /// Creates the columns with these names.
  ///
  /// - Parameter relationships: those of the entity, for links to their targets.
  init(
    _ entity: DynamicEntity, names: [String], relationships: [DynamicRelationship]
  ) throws(AddressError) {
    self.entity = entity
    for name in names {
      let (source, type) = try Self.source(name, entity, relationships)
      sources.append(source)
      headings.append(Table.Heading(Column(name), type: type))
    }
  }

  private static func source(
    _ name: String, _ entity: DynamicEntity, _ relationships: [DynamicRelationship]
  ) throws(AddressError) -> (Source, type: String) {
    if name == DynamicRecord.idName { return (.id, "id") }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard let attribute = entity.description.attribute(named: parts[0]) else {
      let known = entity.description.declaredAttributes.map(\.name) + [DynamicRecord.idName]
      throw .notFound(
        PageReading.missing("\(entity.name) has no attribute", parts[0], among: known))
    }
    if parts.count == 1 {
      let target = relationships.first { $0.isToOne && $0.name == name }?.target.name
      return (.attribute(attribute, target: target), typeName(of: attribute, target: target))
    }
    guard attribute.type == .json || attribute.type == .document else {
      throw .notFound(
        "'\(attribute.name)' is stored as \(attribute.type.name) and has nothing inside; name it "
          + "without '.\(parts[1])'")
    }
    return (.path(attribute, Array(parts.dropFirst())), attribute.type.name)
  }

  /// The type in words, such as `string?` or `Author?`.
  static func typeName(of attribute: EntityDescription.Attribute, target: String?) -> String {
    (target ?? attribute.shape ?? attribute.type.name) + (attribute.isOptional ? "?" : "")
  }

  /// The type of a vector with its dimensions: `vector(384)?`.
  static func typeName(
    of index: EntityDescription.ComputedIndex, _ attribute: EntityDescription.Attribute
  ) -> String {
    "vector(\(index.dimensions))" + (attribute.isOptional ? "?" : "")
  }

  /// The names of the usual columns: the id, the attributes of unique keys, then the others.
  static func usualNames(of entity: DynamicEntity, all: Bool = false) -> [String] {
    let description = entity.description
    let keys = Set(entity.indexes.filter(\.isUnique).flatMap(\.description.attributes))
    let attributes = description.declaredAttributes
    let names =
      attributes.filter { keys.contains($0.number) }.map(\.name)
      + attributes.filter { !keys.contains($0.number) }.map(\.name)
    return [DynamicRecord.idName] + (all ? names : Array(names.prefix(usualCount)))
  }

  /// Adds the column `_distance` after the id.
  mutating func addDistance(_ distance: DynamicDistance) {
    let column = Column(DynamicRecord.distanceName, title: "distance")
    let position = min(1, sources.count)
    sources.insert(.distance(distance), at: position)
    let unit = distance.measure?.rawValue ?? "meters"
    headings.insert(Table.Heading(column, type: unit), at: position)
  }

  /// Adds the geometry of GeoJSON, by a place index.
  mutating func addCoordinates(by position: Int) {
    sources.append(.coordinates(position: position))
    headings.append(Table.Heading(Column(GeoJSONText.placeName)))
  }

  /// Lets vectors be shown as numbers and not as bytes.
  mutating func showVectors() {
    for (position, index) in entity.description.vectorIndexes.enumerated() {
      for column in sources.indices {
        guard case .attribute(let attribute, _) = sources[column],
          attribute.number == index.attribute
        else { continue }
        sources[column] = .vector(position: position)
        headings[column].type = Self.typeName(of: index, attribute)
      }
    }
  }

  mutating func setHeading(at position: Int, _ change: (inout Table.Heading) -> Void) {
    change(&headings[position])
  }

  /// The values of a record.
  ///
  /// A damaged record has its id alone, so that the others stay readable.
  ///
  /// - Parameter noteDamage: called with the reason.
  func row(_ record: DynamicRecord, noteDamage: (String) -> Void) -> Table.Row {
    do {
      let reader = try record.reader(verifyingChecksum: true)
      return Table.Row(try sources.map { try item($0, record.id, reader) })
    } catch {
      noteDamage("\(entity.name) \(record.id) is damaged: \(error)")
      let id = Item(.unsigned(record.id), link: .record(entity.name, record.id))
      return Table.Row(
        sources.map { if case .id = $0 { id } else { Item(.absent) } })
    }
  }

  private func item(
    _ source: Source, _ id: UInt64, _ reader: DynamicRecord.Reader
  ) throws -> Item {
    switch source {
    case .id: return Item(.unsigned(id), link: .record(entity.name, id))
    case .attribute(let attribute, let target):
      return Self.item(try reader.value(of: attribute), target: target)
    case .distance(let distance):
      guard let number = try distance.distance(of: reader) else { return Item(.absent) }
      return Item(
        distance.measure == nil
          ? .count(Int(number.rounded())) : .double((number * 1e6).rounded() / 1e6))
    case .vector(let position):
      return Item(
        entity.vector(in: reader, by: position).map { .text(Self.text(of: $0)) } ?? .null)
    case .coordinates(let position):
      let place = try entity.place(in: reader, by: position)
      return Item(
        place.map {
          GeoJSONText.coordinates(latitude: $0.latitude, longitude: $0.longitude)
        } ?? .null)
    case .path(let attribute, let path):
      guard case .document(let bytes) = try reader.value(of: attribute) else {
        return Item(.absent)
      }
      return try bytes._withBytes { bytes in
        Item(try DocumentText.value(at: path, in: bytes).map { try Cell(document: $0) } ?? .absent)
      }
    }
  }

  /// The first numbers of a vector, and their count.
  private static func text(of vector: Vector) -> String {
    let shown = vector.values.prefix(4).map { "\(($0 * 1_000).rounded() / 1_000)" }
    return shown.joined(separator: ", ") + (vector.values.count > 4 ? ", …" : "")
      + " (\(vector.values.count))"
  }

  /// A value, with a link to the record of `target` that it names.
  static func item(_ value: Value, target: String?) -> Item {
    let cell = (try? Cell(value)) ?? .text("(damaged document)")
    guard let target, case .integer(let id) = value, id > 0 else { return Item(cell) }
    return Item(cell, link: .record(target, UInt64(id)))
  }
}
