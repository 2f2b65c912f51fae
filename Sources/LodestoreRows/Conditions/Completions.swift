package import EntityStore
internal import LodestoreBytes
internal import LodestoreFormat

/// Comparisons of an entity's attributes, which a field or a prompt for conditions suggests.
///
/// The comparisons have values where an attribute has few: all values at the beginning of an index,
/// or the values of some records.
package struct Completions {
  package private(set) var texts: [String] = []
  /// The attributes, the members of JSON values in the first records, and paths to related records.
  package private(set) var paths: [String] = []

  /// The maximum number of suggestions, of values of one attribute, and of records that are read.
  private static let (most, mostValues, mostRecords) = (240, 12, 300)
  /// The number of bytes of a text that is suggested as a value.
  private static let longestText = 60

  /// - Parameters:
  ///   - nested: The paths into JSON attributes.
  ///   - control: Ends the search for values of indexes.
  package init(
    _ entity: DynamicEntity, _ snapshot: DynamicSnapshot, _ nested: NestedPaths,
    control: RunControl = RunControl()
  ) {
    var values = (try? Self.values(inRecordsOf: entity, snapshot)) ?? [:]
    for index in entity.indexes where index.description.attributes.count > 0 {
      let found = try? snapshot.firstValues(
        of: index, of: entity, most: Self.mostValues + 1, control: control)
      values[index.description.attributes[0]] = found?.compactMap(\.values.first)
    }
    for attribute in entity.description.declaredAttributes {
      let operand = ConditionText.operand(attribute.name)
      if let known = values[attribute.number], known.count <= Self.mostValues {
        for value in known where Self.isShort(value) {
          if let text = ConditionText.equality(attribute.name, value) { texts.append(text) }
        }
      }
      texts += Self.beginnings(for: attribute).map { "\(operand) \($0)" }
      for path in nested.paths where path.text.hasPrefix(attribute.name + ".") {
        texts += path.values.compactMap { ConditionText.equality(path.text, $0) }
      }
    }
    for relationship in snapshot.relationships(of: entity) where !relationship.isToOne {
      if let name = relationship.name { texts.append("\(name).@count > 0") }
    }
    var known: Set<String> = []
    texts = Array(texts.filter { known.insert($0).inserted }.prefix(Self.most))
    paths = entity.description.declaredAttributes.map(\.name) + nested.paths.map(\.text)
    for relationship in snapshot.relationships(of: entity) {
      guard let name = relationship.name else { continue }
      paths +=
        relationship.isToOne
        ? relationship.target.description.declaredAttributes.map { "\(name).\($0.name)" }
        : ["\(name).@count"]
    }
  }

  /// The different values of attributes in the first records.
  private static func values(
    inRecordsOf entity: DynamicEntity, _ snapshot: DynamicSnapshot
  ) throws -> [UInt32: [Value]] {
    let attributes = entity.description.declaredAttributes.filter { attribute in
      switch attribute.type {
      case .string, .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: true
      default: false
      }
    }
    var found: [UInt32: [Value]] = [:]
    var (count, repeated) = (0, Set<UInt32>())
    try snapshot.forEachRecord(of: entity) { record in
      guard let reader = try? record.reader() else { return true }
      for attribute in attributes {
        let known = found[attribute.number, default: []]
        guard known.count <= mostValues, let value = try? reader.value(of: attribute) else {
          continue
        }
        if known.contains(value) {
          repeated.insert(attribute.number)
        } else {
          found[attribute.number] = known + [value]
        }
      }
      count += 1
      return count < mostRecords
    }
    // Values that all differ are no choice among few.
    return found.filter { repeated.contains($0.key) }
  }

  private static func isShort(_ value: Value) -> Bool {
    switch value {
    case .string(let text): text.utf8.count <= longestText
    case .data, .document: false
    default: true
    }
  }

  /// The operators that fit an attribute, with the beginning of a value.
  private static func beginnings(for attribute: EntityDescription.Attribute) -> [String] {
    let null = attribute.isOptional ? ["== NULL", "!= NULL"] : []
    switch attribute.type {
    case .bool: return ["== TRUE", "== FALSE"] + null
    case .string, .url:
      return ["== \"", "BEGINSWITH[c] \"", "CONTAINS[cd] \"", "LIKE[c] \"*", "IN {\""] + null
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .double, .float,
      .decimal, .recordID:
      return ["== ", "> ", "< ", "BETWEEN {", "IN {"] + null
    case .date: return ["> CAST(\"", "< CAST(\""] + null
    case .uuid: return ["== CAST(\""] + null
    case .data, .json, .document: return null
    }
  }
}
