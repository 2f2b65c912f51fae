internal import LodestoreBytes
internal import LodestoreFormat

/// The derived attributes of an entity that are computed from the record alone when it is written.
///
/// See Format.md, "Derived attributes".
final class RecordDerivations: Sendable {
  /// A function of the program, applied to a record in ``StoredEntity/decodingLayout``.
  typealias Function = @Sendable (RecordView, EntityLabel) throws(StoreError) -> Value

  private struct Item: Sendable {
    /// The index in the current layout.
    let position: Int
    let number: UInt32
    let kind: DerivationDescription.Kind
    /// The index of the source attribute.
    let source: Int?
    let sourceNumber: UInt32?
    let function: Function?
    let type: AttributeType
    /// The path into the source document.
    let path: [String]?
    /// The part of the source date.
    let part: DerivedDatePart?
  }

  /// The attributes in the order of their computation.
  ///
  /// Results of functions come after derived texts, which the functions may read. The time of the
  /// last change comes last, because an update sets it only if another attribute has changed.
  private let items: [Item]
  /// For each attribute of the current layout: whether it is derived.
  let isDerived: [Bool]
  /// For each attribute of the current layout: whether it depends on related records.
  private let isOfRelated: [Bool]
  private let numbers: Set<UInt32>
  /// The name of the first attribute that is derived by a function which the program does not have;
  /// `nil` for none.
  private let unknown: String?

  /// Returns `nil` when no attribute is derived.
  ///
  /// - Parameter functions: the functions that the program declares with the version in the file.
  ///   `nil` leaves the results of functions unchanged, to be computed later.
  init?(_ entity: EntityDescription, functions: [UInt32: Function]?) {
    let attributes = entity.declaredAttributes
    guard attributes.contains(where: { $0.derivation != nil }) else { return nil }
    isDerived = attributes.map { $0.derivation != nil }
    isOfRelated = attributes.map { $0.derivation?.kind.isOfRelated ?? false }
    numbers = Set(attributes.filter { $0.derivation != nil }.map(\.number))
    var items: [Item] = []
    for (position, attribute) in attributes.enumerated() {
      guard let derivation = attribute.derivation else { continue }
      items.append(
        Item(
          position: position, number: attribute.number, kind: derivation.kind,
          source: derivation.kind.isOfRelated
            ? nil : derivation.source.flatMap { entity.layout.slotIndex(ofAttribute: $0) },
          sourceNumber: derivation.kind.isOfRelated ? nil : derivation.source,
          function: functions?[attribute.number], type: attribute.type, path: derivation.path,
          part: derivation.part))
    }
    let lacking = items.first { $0.kind == .function && $0.function == nil }
    unknown = functions == nil ? nil : lacking.map { attributes[$0.position].name }
    self.items = items.sorted { $0.kind.rank < $1.kind.rank }
  }

  /// Returns whether the attribute is derived.
  func contains(_ number: UInt32) -> Bool { numbers.contains(number) }

  /// Returns the attribute that an incoming record must contain for the attribute `number` to have
  /// a value.
  ///
  /// For an attribute derived from another attribute of the record, this is the source. For every
  /// other attribute it is the attribute itself.
  func given(_ number: UInt32) -> UInt32 {
    items.first { $0.number == number }?.sourceNumber ?? number
  }

  /// Returns the derived attributes that may change when those with `numbers` change.
  func dependents(of numbers: Set<UInt32>) -> Set<UInt32> {
    Set(
      items.lazy.filter { item in
        switch item.kind {
        case .function, .changed: true
        default: item.sourceNumber.map(numbers.contains) ?? false
        }
      }.map(\.number))
  }

  /// The occasion for computing derived attributes.
  enum Occasion {
    case insert
    /// The record is restored under its earlier id, and keeps the date of its first insertion.
    case restore
    /// A program changes the record, or another record replaces it.
    case update(over: [Value])
    /// The attributes derived from related records have been set; no other attribute depends on
    /// them.
    case related
    /// The definition of a derived attribute has changed.
    case rebuild
  }

  /// Returns whether the attribute at a position of the current layout may be set on an occasion
  /// that computes derived attributes again.
  func isComputedAgain(at position: Int, on occasion: Occasion) -> Bool {
    switch occasion {
    case .related: isOfRelated[position]
    case .rebuild: isDerived[position]
    case .insert, .restore, .update: false
    }
  }

  /// Computes the derived attributes in `values`, which are in the order of the current layout.
  ///
  /// - Parameter numbers: the numbers of the attributes that may change; `nil` for all. Other
  ///   derived attributes keep their values and index entries, even wrong ones of a damaged file.
  /// - Throws: ``StoreError/Code/incompatibleSchema`` when the program does not have a function.
  func derive(
    _ values: inout [Value], _ occasion: Occasion, of entity: StoredEntity,
    only numbers: Set<UInt32>? = nil, time: @autoclosure () -> Double
  ) throws(StoreError) {
    if case .related = occasion { return }
    if let unknown { throw .unknownFunction(entity: entity.name, attribute: unknown) }
    for item in items {
      if let numbers, !numbers.contains(item.number) { continue }
      if let mapping = item.kind.mapping, let source = item.source {
        if case .string(let text) = values[source] {
          values[item.position] = .string(mapping.mapped(text))
        } else {
          values[item.position] = .null
        }
        continue
      }
      if let part = item.part, let source = item.source {
        values[item.position] = part.value(of: values[source])
        continue
      }
      if let path = item.path, let source = item.source {
        values[item.position] = try member(path, of: values[source], as: item.type, entity)
        continue
      }
      switch (item.kind, occasion) {
      case (.function, _):
        guard let function = item.function else { continue }
        values[item.position] = try value(of: function, item.position, values, entity)
      case (.inserted, .restore) where values[item.position] != .null: break
      case (.inserted, .insert), (.inserted, .restore), (.changed, .insert), (.changed, .restore):
        values[item.position] = .date(time())
      case (.inserted, .update(let old)): values[item.position] = old[item.position]
      case (.changed, .update(let old)):
        values[item.position] = old[item.position]
        if !isSame(values, old) { values[item.position] = .date(time()) }
      case (_, .insert), (_, .restore): values[item.position] = entity.startValue(at: item.position)
      case (_, .update(let old)): values[item.position] = old[item.position]
      case (_, .related), (_, .rebuild): break
      }
    }
  }

  private func member(
    _ path: [String], of value: Value, as type: AttributeType, _ entity: StoredEntity
  ) throws(StoreError) -> Value {
    guard case .document(let bytes) = value else { return .null }
    do {
      return try bytes._withBytes { (bytes) throws(FormatError) in
        try DocumentMember.value(at: path, of: bytes, as: type)
      }
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: 0, error)
    }
  }

  private func isSame(_ values: [Value], _ old: [Value]) -> Bool {
    zip(values, old).allSatisfy { $0.hasSameBytes(as: $1) }
  }

  private func value(
    of function: Function, _ position: Int, _ values: [Value], _ entity: StoredEntity
  ) throws(StoreError) -> Value {
    let layout = entity.decodingLayout
    let record: [UInt8]
    do {
      record = try layout.record(
        id: 0,
        values: layout.attributes.map { attribute in
          entity.layout.slotIndex(ofAttribute: attribute.number).map { position in
            // A function must not depend on other records. Instead of values derived from related
            // records, it reads their start values.
            isOfRelated[position] ? entity.startValue(at: position) : values[position]
          } ?? .null
        })
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: 0, error)
    }
    let value = try record._withBytes { (bytes) throws(StoreError) in
      try function(try entity.view(carriedOver: bytes, id: 0), entity.label)
    }
    let attribute = entity.layout.attributes[position]
    guard value == .null ? attribute.isOptional : value.fits(attribute.type) else {
      throw .unfittingDerived(entity.name, entity.attributeName(at: position))
    }
    return value
  }
}

extension DerivationDescription.Kind {
  fileprivate var rank: Int {
    switch self {
    case .function: 1
    case .changed: 2
    default: 0
    }
  }
}

extension StoredEntity {
  /// The value of an attribute derived from related records while the record has none of them.
  func startValue(at position: Int) -> Value {
    let attribute = layout.attributes[position]
    return attribute.isOptional ? .null : .placeholder(of: attribute.type)
  }

  func attributeName(at position: Int) -> String {
    description.attribute(number: layout.attributes[position].number)?.name ?? "?"
  }
}

extension StoreError {
  fileprivate static func unknownFunction(entity: String, attribute: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot write a \(entity): '\(attribute)' is derived by a function that this program does not "
        + "declare, or in another version; write it with the program that does",
      entity: entity, attribute: attribute)
  }

  fileprivate static func unfittingDerived(_ entity: String, _ attribute: String) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot write a \(entity): what the function of '\(attribute)' returns does not fit the "
        + "attribute", entity: entity, attribute: attribute)
  }
}
