import EntityStore
import LodestoreBytes
import LodestoreFormat

/// The columns in which records of one entity are shown, and access to their cells.
struct RecordColumns {
  /// The name of a record's id among the attributes.
  ///
  /// No attribute can have it.
  static let idName = DynamicRecord.idName

  private enum Source {
    case id
    case attribute(EntityDescription.Attribute)
    /// A value inside a JSON or document attribute.
    case path(EntityDescription.Attribute, [String])
    /// The keys of related records.
    case link(DynamicLink)
    case distance(DynamicDistance)
    /// The coordinates of the record's place, as GeoJSON has them.
    case place
    /// The coordinates of a place whose latitude and longitude are other columns.
    indirect case placeOf(latitude: Source, longitude: Source)
  }

  /// The snapshot, set when relationships are exported as keys.
  private var snapshot: DynamicSnapshot?

  private(set) var columns: [Column]
  private var sources: [Source]
  private let entity: DynamicEntity
  private let isExact: Bool

  /// Creates columns for the id and all attributes, or for the chosen `names`.
  ///
  /// - Parameter isExact: Whether `import` must read equal values from the cells.
  init(_ entity: DynamicEntity, names: [String]?, isExact: Bool = false) throws {
    self.entity = entity
    self.isExact = isExact
    let names = names ?? [Self.idName] + entity.description.declaredAttributes.map(\.name)
    sources = try names.map { try Self.source($0, entity) }
    columns = zip(names, sources).map(Self.column)
  }

  /// The column of a source, with the type of its values.
  private static func column(_ name: String, _ source: Source) -> Column {
    var column = Column(name)
    switch source {
    case .id:
      column.type = .recordID
      column.isOptional = false
    case .attribute(let attribute):
      column.type = attribute.type
      // A document may be JSON's null.
      column.isOptional = attribute.isOptional || attribute.type.isDocument
    case .path, .link, .place, .placeOf: column.type = .json
    case .distance: column.type = .double
    }
    return column
  }

  private static let collectionOperators: Set<String> = ["@count", "@sum", "@min", "@max", "@avg"]

  private static func source(_ name: String, _ entity: DynamicEntity) throws -> Source {
    if name == idName { return .id }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard let attribute = entity.description.attribute(named: parts[0]) else {
      throw UnknownName.attribute(parts[0], of: entity, known: [idName])
    }
    if parts.count == 1 { return .attribute(attribute) }
    guard attribute.type == .json || attribute.type == .document else {
      throw CommandFailure.badArgument(
        name,
        reason: "'\(attribute.name)' is stored as \(attribute.type.name) and has nothing inside",
        nextStep: "name it without '.\(parts[1])'"
          + (attribute.type == .recordID
            ? "; conditions, --sort and 'kvdump count --by' follow a relationship, and so does 'kvdump "
              + "get' by --related" : ""))
    }
    if let last = parts.last?.lowercased(), collectionOperators.contains(last) {
      throw CommandFailure.badArgument(
        name, reason: "is an expression, and --fields accepts only values",
        nextStep: "take it in a condition, in --sort or in 'kvdump count --by'")
    }
    return .path(attribute, Array(parts.dropFirst()))
  }

  /// Gives columns of whole attributes the names of the members that imports fill them from.
  ///
  /// Throws if two columns would have one name.
  mutating func nameBySources() throws {
    let names = zip(columns, sources).map { column, source in
      guard case .attribute(let attribute) = source else { return column.name }
      return attribute.source ?? column.name
    }
    var owners: [String: String] = [:]
    for (name, column) in zip(names, columns) {
      if let other = owners.updateValue(column.name, forKey: name) {
        throw CommandFailure.badArgument(
          "--source-names", reason: "'\(other)' and '\(column.name)' would both be named '\(name)'",
          nextStep: "choose the attributes by --fields, or export under their own names")
      }
    }
    columns = zip(names, sources).map(Self.column)
  }

  /// Adds columns that represent relationships by keys of the other side and not by ids.
  mutating func add(_ links: [DynamicLink], _ snapshot: DynamicSnapshot) {
    self.snapshot = snapshot
    for link in links {
      var column = Self.column(link.relationship, .link(link))
      if link.isToOne {
        let target = snapshot.entity(named: link.target)?.description
        column.type = target?.attribute(named: link.key)?.type
      }
      if let position = columns.firstIndex(where: { $0.name == link.relationship }) {
        columns[position] = column
        sources[position] = .link(link)
      } else {
        columns.append(column)
        sources.append(.link(link))
      }
    }
  }

  /// Adds the column `_distance`.
  mutating func add(_ distance: DynamicDistance) {
    sources.append(.distance(distance))
    columns.append(Self.column(DynamicRecord.distanceName, .distance(distance)))
  }

  /// Adds the geometry of GeoJSON, if that is the format.
  ///
  /// - Parameter paths: the attributes or paths of the latitude and the longitude; `nil` for those
  ///   of the first place index.
  mutating func addPlace(
    for format: OutputFormat, by paths: (latitude: String, longitude: String)? = nil
  ) throws {
    guard format == .geojson else { return }
    var source = Source.place
    if let paths {
      source = .placeOf(
        latitude: try Self.source(paths.latitude, entity),
        longitude: try Self.source(paths.longitude, entity))
    } else if entity.description.declaredIndexes(.place).isEmpty {
      throw CommandFailure.withoutPlaces
    }
    sources.append(source)
    columns.append(Self.column(GeoJSONText.placeName, source))
  }

  /// The cells of a record.
  ///
  /// The record's bytes are checked against its checksum.
  func row(_ record: DynamicRecord) throws -> [Cell] {
    let reader = try record.reader(verifyingChecksum: true)
    do {
      return try sources.map { source in try cell(source, record.id, reader) }
    } catch {
      throw CommandFailure.damagedRecord(entity.name, record.id, reason: "\(error)")
    }
  }

  private func cell(_ source: Source, _ id: UInt64, _ reader: DynamicRecord.Reader) throws -> Cell {
    switch source {
    case .id: return .unsigned(id)
    case .attribute(let attribute):
      let value = try reader.value(of: attribute)
      return try isExact ? Cell(exactly: value) : Cell(value)
    case .link(let link):
      let keys = try (snapshot?.keys(of: link, from: id, of: entity) ?? [])
        .map { try isExact ? Cell(exactly: $0) : Cell($0) }
      return link.isToOne ? keys.first ?? .null : .array(keys)
    case .distance(let distance):
      let isInMeters = distance.measure == nil
      return try distance.distance(of: reader).map {
        .double(isInMeters ? $0.rounded() : $0)
      } ?? .null
    case .place:
      return try entity.place(in: reader).map {
        GeoJSONText.coordinates(latitude: $0.latitude, longitude: $0.longitude)
      } ?? .null
    case .placeOf(let latitude, let longitude):
      let cells = try [cell(latitude, id, reader), cell(longitude, id, reader)]
      guard let north = cells[0].number, let east = cells[1].number,
        (-90...90).contains(north), (-180...180).contains(east)
      else { return .null }
      return GeoJSONText.coordinates(latitude: north, longitude: east)
    case .path(let attribute, let path):
      guard case .document(let bytes) = try reader.value(of: attribute) else { return .absent }
      return try bytes._withBytes { bytes in
        try DocumentText.value(at: path, in: bytes).map { try Cell(document: $0) } ?? .absent
      }
    }
  }
}

extension Cell {
  /// The number of a coordinate; `nil` for a value that is no number.
  fileprivate var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .unsigned(let number): Double(number)
    case .double(let number): number
    case .number(let text): Double(text)
    default: nil
    }
  }
}
