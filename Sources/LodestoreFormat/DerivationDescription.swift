/// The way in which the store calculates the values of an attribute.
///
/// See Format.md, "Derived attributes".
package struct DerivationDescription: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    // Derived from the record alone.
    case canonical, uppercase, lowercase
    /// The time of the write that inserted the record.
    case inserted
    /// The time of the last write that changed the record.
    case changed
    /// The result of a function that the program registers.
    case function
    /// The value at a path in a document.
    case member
    /// A part of the date in the source attribute, such as its year.
    case datePart

    // Derived from related records.

    /// The value of an attribute of the related record.
    case copy
    case count, sum, minimum, maximum, average
  }

  package var kind: Kind
  /// The attribute to derive from.
  ///
  /// The attribute belongs to the related entity for copies and aggregates, otherwise to this
  /// entity.
  package var source: UInt32?
  package var relationship: UInt32?
  /// The side of the relationship on which this entity is.
  package var side: RelationshipSide?
  /// The version of the program's function.
  package var version: UInt32?
  /// The member names on the way to the value within the source document.
  package var path: [String]?
  /// The part of the date, and the time zone's offset.
  package var part: DerivedDatePart?
  /// A condition, as a format string, that selects the related records to aggregate; `nil` selects
  /// all.
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

/// A part of a date in a time zone `offset` seconds ahead of UTC.
package struct DerivedDatePart: Sendable, Hashable {
  package var part: CalendarPart
  package var offset: Int64

  package init(_ part: CalendarPart, offset: Int64) {
    self.part = part
    self.offset = offset
  }

  /// Allowed offsets in seconds: less than one day.
  package static let offsets: ClosedRange<Int64> = -86_399...86_399

  /// The part of the source's date; null if the source is null.
  package func value(of source: Value) -> Value {
    if case .date(let date) = source { part.value(of: date, offset: offset) } else { .null }
  }
}

extension DerivationDescription.Kind {
  /// The mapping from the source text to the derived text; `nil` for other kinds.
  package var mapping: TextMapping? {
    switch self {
    case .canonical: .canonical
    case .uppercase: .uppercase
    case .lowercase: .lowercase
    default: nil
    }
  }

  /// Whether the value is derived from related records.
  package var isOfRelated: Bool {
    switch self {
    case .copy, .count, .sum, .minimum, .maximum, .average: true
    case .canonical, .uppercase, .lowercase, .inserted, .changed, .function, .member, .datePart:
      false
    }
  }

  /// Whether the value is aggregated from all related records, or from the related records that
  /// fulfil a condition.
  package var isAggregate: Bool { isOfRelated && self != .copy }

  /// Whether the derivation names a source attribute.
  fileprivate var hasSource: Bool {
    switch self {
    case .inserted, .changed, .function, .count: false
    default: true
    }
  }

  /// Returns why an attribute of `type` cannot be derived in this way from a source of the given
  /// type; `nil` if it can.
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
  /// Throws if a derived attribute refers to a missing relationship or attribute, or to one of the
  /// wrong type.
  package func checkDerivations(
    _ entities: [EntityDescription], _ relationships: [RelationshipDescription]
  ) throws(FormatError) {
    for attribute in attributes where !attribute.isRemoved {
      try attribute.derivation?.check(attribute, of: self, entities, relationships)
    }
  }
}

extension AttributeType {
  /// Whether values can be summed.
  package var isNumber: Bool {
    integerRange != nil || self == .float || self == .double || self == .decimal
  }
}

extension DerivationDescription {
  /// Throws if a derivation from related records refers to a missing relationship or attribute, or
  /// to one of the wrong type.
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
    try require(
      kind != .copy || side == .from && relationship.attribute != nil,
      "the derived attribute '\(label)' is a copy over a relationship to many",
      .derivedRelationship)
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
  /// The maximum number of names in a path, equal to the deepest nesting of documents.
  package static let longestPath = 128

  /// The members of an attribute object that describe the derivation.
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

  /// Reads the derivation of an attribute and checks the rules that need no other object.
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
    try require(
      (path != nil) == (kind == .member) && (part != nil) == (kind == .datePart)
        && (source != nil) == kind.hasSource && (relationship != nil) == kind.isOfRelated
        && (side != nil) == kind.isOfRelated && (version != nil) == (kind == .function),
      "attribute '\(attribute)' is derived as '\(word)' and lacks what that needs, or has more",
      .derivedMembers)
  }
}
