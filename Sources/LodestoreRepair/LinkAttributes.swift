internal import LodestoreBytes
internal import LodestoreFormat

/// The identity of a record: its entity and its id.
struct RecordName: Hashable, Comparable {
  var entity: EntityNumber
  var id: UInt64

  static func < (left: RecordName, right: RecordName) -> Bool {
    (left.entity, left.id) < (right.entity, right.id)
  }
}

/// The attributes of an entity that hold ids of other records through a relationship.
struct LinkAttributes {
  private let relationships: [UInt32: RelationshipDescription]
  let hasRequired: Bool
  /// The attributes that records written now must have, whatever their own layout says.
  private let required: Set<UInt32>
  /// The initial values of attributes, which records older than the attribute hold.
  private let initial: [UInt32: UInt64]

  init(_ entity: EntityDescription, _ relationships: [RelationshipDescription]) {
    var held: [UInt32: RelationshipDescription] = [:]
    for relationship in relationships where relationship.from.entity == entity.number {
      if let attribute = relationship.attribute { held[attribute] = relationship }
    }
    self.relationships = held
    initial = held.keys.reduce(into: [:]) {
      $0[$1] = entity.attribute(number: $1)?.initial.recordID
    }
    let required = Set(held.keys.filter { entity.attribute(number: $0)?.isOptional == false })
    self.required = required
    hasRequired =
      !required.isEmpty
      || entity.layouts.contains { layout in
        layout.attributes.contains { held[$0.number] != nil && !$0.isOptional }
      }
  }

  private func values(
    _ bytes: ByteView, _ entity: EntityDescription
  ) throws -> (RecordLayout, [Value])? {
    let number = try RecordLayout.layoutNumber(of: bytes)
    guard let layout = entity.layouts.first(where: { $0.number == number }) else { return nil }
    let view = try RecordView(bytes, layout: layout)
    return (layout, try layout.slots.map { try view.value(at: $0) })
  }

  /// The records that a record refers to, or only those that it must refer to.
  func targets(
    _ bytes: ByteView, _ entity: EntityDescription, isRequired: Bool = false
  ) throws -> [(RelationshipDescription, UInt64)] {
    guard !relationships.isEmpty, let (layout, values) = try values(bytes, entity) else {
      return []
    }
    let held = zip(layout.attributes, values).compactMap {
      attribute, value -> (RelationshipDescription, UInt64)? in
      guard let relationship = relationships[attribute.number], let id = value.recordID,
        !isRequired || !attribute.isOptional || required.contains(attribute.number)
      else { return nil }
      return (relationship, id)
    }
    let initial = initialTargets(layout).filter { !isRequired || required.contains($0.attribute) }
    return held + initial.map { ($0.relationship, $0.target) }
  }

  /// The records that all records of a layout refer to through initial values.
  private func initialTargets(
    _ layout: RecordLayout
  ) -> [(attribute: UInt32, relationship: RelationshipDescription, target: UInt64)] {
    initial.compactMap { number, target in
      guard layout.slotIndex(ofAttribute: number) == nil, let relationship = relationships[number]
      else { return nil }
      return (number, relationship, target)
    }
  }

  /// The record with null in place of each id of a lost record, and the number of these ids.
  func emptied(
    _ bytes: ByteView, _ id: UInt64, _ entity: EntityDescription,
    _ isThere: (EntityNumber, UInt64) -> Bool
  ) throws -> ([UInt8], Int) {
    guard !relationships.isEmpty, case (var layout, var values)? = try values(bytes, entity) else {
      return (Array(bytes), 0)
    }
    if initialTargets(layout).contains(where: { !isThere($0.relationship.to.entity, $0.target) }) {
      // If the initial value refers to a lost record, the value is stored in the record itself,
      // where it can be null.
      let old = layout
      layout = entity.layout
      values = layout.attributes.map { attribute in
        old.slotIndex(ofAttribute: attribute.number).map { values[$0] }
          ?? entity.attribute(number: attribute.number)?.initial ?? .null
      }
    }
    var count = 0
    for (index, attribute) in layout.attributes.enumerated() {
      guard let relationship = relationships[attribute.number], let target = values[index].recordID,
        !isThere(relationship.to.entity, target)
      else { continue }
      values[index] = .null
      count += 1
    }
    return count == 0 ? (Array(bytes), 0) : (try layout.record(id: id, values: values), count)
  }
}

extension Value {
  fileprivate var recordID: UInt64? {
    switch self {
    case .integer(let number): UInt64(exactly: number)
    case .unsigned(let number): number
    default: nil
    }
  }
}
