/// How the store works out the values of an attribute.
///
/// See Format.md, "Derived attributes".
package struct DerivationDescription: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    // Of the record alone.
    case canonical, uppercase, lowercase
    /// The time of the write that inserted the record.
    case inserted
    /// The time of the last write that changed it.
    case changed
    /// By a function of the program.
    case function
    /// What is at a path in a document.
    case member
    /// A part of a date.
    case datePart
    // Of the records that it leads to.
    /// An attribute of the one that it leads to.
    case copy
    case count, sum, minimum, maximum, average
  }

  package var kind: Kind
  /// The attribute that it is derived from: of the entity itself for texts, of the other one for copies
  /// and aggregates.
  package var source: UInt32?
  package var relationship: UInt32?
  /// The side of the relationship that the entity is.
  package var side: RelationshipSide?
  /// Of the function.
  package var version: UInt32?
  /// The names of the members that lead to the value in the source.
  package var path: [String]?
  /// Which part of the date.
  package var part: DerivedDatePart?
  /// The condition, as a format string, that related records fulfil which count; `nil` where all
  /// do.
  package var condition: String?

  package init(
    _ kind: Kind, source: UInt32? = nil, relationship: UInt32? = nil, side: RelationshipSide? = nil,
    version: UInt32? = nil, path: [String]? = nil, part: DerivedDatePart? = nil,
    condition: String? = nil
  ) {
    self.kind = kind
    self.source = source
    self.relationship = relationship
    self.side = side
    self.version = version
    self.path = path
    self.part = part
    self.condition = condition
  }
}

/// The part of a date that an attribute holds, where clocks are `offset` seconds ahead of UTC.
package struct DerivedDatePart: Sendable, Hashable {
  package var part: CalendarPart
  package var offset: Int64

  package init(_ part: CalendarPart, offset: Int64) {
    self.part = part
    self.offset = offset
  }

  /// Offsets of a day or more are none.
  package static let offsets: ClosedRange<Int64> = -86_399...86_399

  /// The part of the source's value; null of null.
  package func value(of source: Value) -> Value {
    if case .date(let date) = source { part.value(of: date, offset: offset) } else { .null }
  }
}

extension DerivationDescription.Kind {
  /// How a text is derived from a text.
  package var mapping: TextMapping? {
    switch self {
    case .canonical: .canonical
    case .uppercase: .uppercase
    case .lowercase: .lowercase
    default: nil
    }
  }

  /// Whether it is of the records that the record leads to.
  package var isOfRelated: Bool {
    switch self {
    case .copy, .count, .sum, .minimum, .maximum, .average: true
    case .canonical, .uppercase, .lowercase, .inserted, .changed, .function, .member, .datePart:
      false
    }
  }

  /// Whether it is of all related records, or of those that fulfil a condition.
  package var isAggregate: Bool { isOfRelated && self != .copy }

  /// Whether it has a source.
  fileprivate var hasSource: Bool {
    switch self {
    case .inserted, .changed, .function, .count: false
    default: true
    }
  }

  /// Why an attribute of this type cannot be derived so, from a source of that type; `nil` when it can.
  package func fault(
    type: AttributeType, isOptional: Bool, source: (type: AttributeType, isOptional: Bool)?
  ) -> String? {
    switch self {
    case .datePart:
      guard let source, source.type == .date, type == .int64 || type == .date, isOptional else {
        return "must be an optional int64 or date, and its source a date"
      }
    case .canonical, .uppercase, .lowercase:
      guard let source, source.type == .string, type == .string,
        isOptional == source.isOptional
      else { return "must be a string as its source is one, and optional if that is" }
    case .inserted, .changed:
      guard type == .date, !isOptional else { return "must be a date, and not optional" }
    case .function: return nil
    case .member:
      guard let source, source.type == .json || source.type == .document, type.isIndexable,
        type != .recordID, type != .url, isOptional
      else { return "must be an optional scalar, and its source json or a document" }
    case .count:
      guard type == .int64, !isOptional else { return "must be an int64, and not optional" }
    case .average:
      guard let source, source.type.isNumber, type == .double, isOptional else {
        return "must be an optional double, of a number"
      }
    case .sum:
      guard let source, source.type.isNumber, type == source.type, !isOptional else {
        return "must be a number of the type of its source, and not optional"
      }
    case .minimum, .maximum:
      guard let source, source.type == type, type.isIndexable, isOptional else {
        return "must be of the type of its source, which has an order, and optional"
      }
    case .copy:
      guard let source, source.type == type, isOptional else {
        return "must be of the type of its source, and optional"
      }
    }
    return nil
  }
}

extension EntityDescription {
  /// Throws where a derived attribute leads to something that is not there, or of another type.
  package func checkDerivations(
    _ entities: [EntityDescription], _ relationships: [RelationshipDescription]
  ) throws(FormatError) {
    for attribute in attributes where !attribute.isRemoved {
      try attribute.derivation?.check(attribute, of: self, entities, relationships)
    }
  }
}

extension AttributeType {
  /// Whether values can be added.
  package var isNumber: Bool {
    switch self {
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double,
      .decimal:
      true
    default: false
    }
  }
}

extension DerivationDescription {
  /// Throws where it is of related records and leads to something that is not there, or of another type.
  package func check(
    _ attribute: EntityDescription.Attribute, of entity: EntityDescription,
    _ entities: [EntityDescription], _ relationships: [RelationshipDescription]
  ) throws(FormatError) {
    guard kind.isOfRelated, let side else { return }
    let label = "\(entity.name).\(attribute.name)"
    guard let relationship = relationships.first(where: { $0.number == self.relationship }),
      relationship[side].entity == entity.number,
      let target = entities.first(where: { $0.number == relationship[side.opposite].entity })
    else {
      throw FormatError(
        "the derived attribute '\(label)' is of a relationship that is not there",
        .derivedRelationship)
    }
    guard kind != .copy || side == .from && relationship.attribute != nil else {
      throw FormatError(
        "the derived attribute '\(label)' is a copy over a relationship to many",
        .derivedRelationship)
    }
    var found: EntityDescription.Attribute?
    if let source {
      guard let attribute = target.attribute(number: source), !attribute.isRemoved else {
        throw FormatError(
          "the derived attribute '\(label)' is of attribute \(source) of \(target.name), which is not there",
          .derivedSource
        )
      }
      found = attribute
    }
    if let fault = kind.fault(
      type: attribute.type, isOptional: attribute.isOptional,
      source: found.map { ($0.type, $0.isOptional) })
    {
      throw FormatError("the derived attribute '\(label)' \(fault)", .derivedAttribute)
    }
  }
}

// MARK: - Document

extension DerivationDescription {
  /// As documents are nested.
  package static let longestPath = 128

  static let knownMembers: Set = [
    "kind", "source", "relationship", "side", "version", "path", "part", "offset", "condition",
  ]

  /// The members of the description as a document.
  var members: [String: Document] {
    var members: [String: Document] = ["kind": .string(kind.rawValue)]
    if let source { members["source"] = .integer(Int64(source)) }
    if let relationship { members["relationship"] = .integer(Int64(relationship)) }
    if let side { members["side"] = .integer(Int64(side.rawValue)) }
    if let version { members["version"] = .integer(Int64(version)) }
    if let path { members["path"] = .array(path.map { .string($0) }) }
    if let part {
      members["part"] = .string(part.part.rawValue)
      members["offset"] = .integer(part.offset)
    }
    if let condition { members["condition"] = .string(condition) }
    return members
  }

  /// Reads the derivation of an attribute and checks the rules that concern it alone.
  init(_ document: Document, of attribute: String) throws(FormatError) {
    guard case .string(let word) = document["kind"], let kind = Kind(rawValue: word) else {
      throw FormatError(
        "attribute '\(attribute)' is derived in a way that is not known", .derivedKind)
    }
    self.kind = kind
    source = try Self.number(
      "source", in: document, attribute,
      upTo: Int64(EntityDescription.highestAttributeNumber))
    relationship = try Self.number(
      "relationship", in: document, attribute, upTo: Int64(UInt32.max) - 1)
    version = try Self.number("version", in: document, attribute, upTo: Int64(UInt32.max))
    side = try Self.number("side", in: document, attribute, upTo: 2)
      .flatMap(RelationshipSide.init(rawValue:))
    switch document["path"] {
    case nil: path = nil
    case .array(let names)?:
      path = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
      guard path?.count == names.count, !names.isEmpty, names.count <= Self.longestPath else {
        throw FormatError(
          "attribute '\(attribute)' is derived with a 'path' that is none", .derivedMembers)
      }
    default:
      throw FormatError(
        "attribute '\(attribute)' is derived with a 'path' that is none", .derivedMembers)
    }
    switch document["condition"] {
    case nil: condition = nil
    case .string(let text)? where !text.isEmpty && kind.isAggregate: condition = text
    default:
      throw FormatError(
        "attribute '\(attribute)' is derived with a condition that is no text, is empty, or is of a "
          + "'\(word)'", .derivedCondition)
    }
    part = try Self.part(in: document, attribute)
    guard (path != nil) == (kind == .member), (part != nil) == (kind == .datePart),
      (source != nil) == kind.hasSource,
      (relationship != nil) == kind.isOfRelated,
      (side != nil) == kind.isOfRelated, (version != nil) == (kind == .function)
    else {
      throw FormatError(
        "attribute '\(attribute)' is derived as '\(word)' and lacks what that needs, or has more",
        .derivedMembers)
    }
  }

  private static func part(
    in document: Document, _ attribute: String
  ) throws(FormatError) -> DerivedDatePart? {
    switch (document["part"], document["offset"]) {
    case (nil, nil): return nil
    case (.string(let name)?, .integer(let offset)?) where DerivedDatePart.offsets.contains(offset):
      if let part = CalendarPart(rawValue: name) { return DerivedDatePart(part, offset: offset) }
    default: break
    }
    throw FormatError(
      "attribute '\(attribute)' is derived with a 'part' or an 'offset' that is none",
      .derivedMembers)
  }

  private static func number(
    _ member: String, in document: Document, _ attribute: String, upTo limit: Int64
  ) throws(FormatError) -> UInt32? {
    switch document[member] {
    case nil: return nil
    case .integer(let value)? where (1...limit).contains(value): return UInt32(value)
    default:
      throw FormatError(
        "attribute '\(attribute)' is derived with a '\(member)' that is none", .derivedMembers)
    }
  }
}
