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
    integerRange != nil || self == .float || self == .double || self == .decimal
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

  /// The members of the description as a document.
  var members: [String: Document] {
    var members: [String: Document] = ["kind": .string(kind.rawValue)]
    members["source"] = source.map { .integer(Int64($0)) }
    members["relationship"] = relationship.map { .integer(Int64($0)) }
    members["side"] = side.map { .integer(Int64($0.rawValue)) }
    members["version"] = version.map { .integer(Int64($0)) }
    members["path"] = path.map(Document.texts)
    if let part {
      members["part"] = .string(part.part.rawValue)
      members["offset"] = .integer(part.offset)
    }
    members["condition"] = condition.map { .string($0) }
    return members
  }

  /// Reads the derivation of an attribute and checks the rules that concern it alone.
  init(reading object: inout CatalogueReader, of attribute: String) throws(FormatError) {
    guard let word = object.take("kind")?.text, let kind = Kind(rawValue: word) else {
      throw FormatError(
        "attribute '\(attribute)' is derived in a way that is not known", .derivedKind)
    }
    func invalid(_ what: String) -> FormatError {
      FormatError(
        "attribute '\(attribute)' is derived with a \(what) that is none", .derivedMembers)
    }
    func number(_ member: String, upTo limit: UInt32 = .max) throws(FormatError) -> UInt32? {
      guard let element = object.take(member) else { return nil }
      guard let number = element.number, (1...limit).contains(number) else {
        throw invalid("'\(member)'")
      }
      return number
    }
    self.kind = kind
    source = try number("source", upTo: EntityDescription.highestAttributeNumber)
    relationship = try number("relationship", upTo: .max - 1)
    version = try number("version")
    side = try number("side", upTo: 2).flatMap(RelationshipSide.init(rawValue:))
    if let element = object.take("path") {
      guard case .array(let names) = element, let texts = names.texts,
        (1...Self.longestPath).contains(texts.count)
      else { throw invalid("'path'") }
      path = texts
    }
    if let element = object.take("condition") {
      guard let text = element.text, !text.isEmpty, kind.isAggregate else {
        throw FormatError(
          "attribute '\(attribute)' is derived with a condition that is no text, is empty, or is of a "
            + "'\(word)'", .derivedCondition)
      }
      condition = text
    }
    switch (object.take("part"), object.take("offset")) {
    case (nil, nil): break
    case (.string(let name)?, .integer(let offset)?):
      guard let part = CalendarPart(rawValue: name), DerivedDatePart.offsets.contains(offset) else {
        throw invalid("'part' or an 'offset'")
      }
      self.part = DerivedDatePart(part, offset: offset)
    default: throw invalid("'part' or an 'offset'")
    }
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
}
