internal import LodestoreFormat

/// The attributes of each record that a call reads, without decoding the other attributes.
struct Columns {
  private let entity: StoredEntity
  /// The numbers of the attributes.
  private(set) var numbers: [UInt32] = []
  private var slots: [RecordLayout.Slot] = []

  init(of entity: StoredEntity) { self.entity = entity }

  /// Adds an attribute.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` for a value that is computed from an attribute.
  mutating func append<E: Entity, V>(_ attribute: Attribute<E, V>) throws(StoreError) {
    guard attribute.storedOrdinal != nil,
      let stored = entity.description.attribute(named: attribute.attributeName),
      let index = entity.decodingLayout.slotIndex(ofAttribute: stored.number)
    else {
      throw .badQuery(
        "'\(ConditionPrinter.text(attribute.operand))' is computed, and values and pages of attributes take "
          + "stored attributes of \(E.schema.name); fetch the records, form groups by it, "
          + "or keep it in a derived attribute")
    }
    numbers.append(stored.number)
    slots.append(entity.decodingLayout.slots[index])
  }

  /// Reads the value of the attribute at the position `place` of the columns, and advances `place`.
  func next<E: Entity, V>(
    _ attribute: Attribute<E, V>, _ place: inout Int, of reader: inout RecordReader
  ) throws(StoreError) -> V {
    reader.move(to: slots[place], in: entity.decodingLayout)
    place += 1
    return try attribute.coding.read(from: &reader)
  }

  /// Returns the value at `place` among values from an index, and advances `place`.
  ///
  /// - Parameter values: the values in the order of ``numbers``.
  func next<E: Entity, V>(
    _ attribute: Attribute<E, V>, _ place: inout Int, of values: [Value]
  ) throws(StoreError) -> V {
    guard let value = attribute.coding.load(StoredValue(values[place])) else {
      throw .badQuery("an index key of \(entity.name) is no \(V.self)")
    }
    place += 1
    return value
  }

  /// The number of values converted at once.
  static let loadedTogether = 1_024

  /// Converts the values of the only column, and moves them to the end of `list`.
  func move<E: Entity, V>(
    _ values: inout [StoredValue], _ attribute: Attribute<E, V>, into list: inout [V]
  ) throws(StoreError) {
    if values.isEmpty { return }
    guard attribute.coding.load(all: values, into: &list) else {
      throw .badQuery("an index key of \(entity.name) is no \(V.self)")
    }
    values.removeAll(keepingCapacity: true)
  }
}
