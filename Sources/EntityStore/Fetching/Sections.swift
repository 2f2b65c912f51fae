internal import LodestoreFormat

/// A run of results with the same value in an attribute.
public struct ResultSection<Key: Sendable, E: Entity>: Sendable {
  /// The value that the records of the section have in common.
  public let key: Key
  /// The records, in the query's order.
  public let items: [E]

  /// The number of records.
  public var count: Int { items.count }
}

/// The position of a section in fetched results.
public struct SectionRange<Key: Sendable>: Sendable {
  /// The value that the records of the section have in common.
  public let key: Key
  /// The indices of the section's records in the results.
  public let range: Range<Int>

  /// The number of records.
  public var count: Int { range.count }
}

extension ReadableTransaction where Self: ~Copyable {
  /// Returns the results of `query`, divided into sections by the values at `path`.
  ///
  ///     let byLicense = Pod.all.sorted(by: \.license, \.name)
  ///     for section in try snapshot.sections(byLicense, by: \.license) { … }
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` unless the first key of the order is the attribute
  ///   at `path`, a scalar, compared exactly. Otherwise one value could be in several sections.
  public func sections<E: Entity, Key: Equatable & Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>
  ) throws(StoreError) -> [ResultSection<Key, E>] {
    let attribute = E.attributes[keyPath: path]
    try query.check(sectionedBy: attribute)
    let core = access.core
    let run = try core.run(query)
    let keys = try SectionKeys(attribute, run.entity, core)
    var sections: [ResultSection<Key, E>] = []
    var key: Key?
    var items: [E] = []
    try run.forEach { id, bytes in
      try core.withCurrentLayout(bytes, id: id, of: run.entity) { (view) throws(StoreError) in
        var reader = RecordReader(view, entity: run.entity.label, recordID: id)
        let value = try E.read(from: &reader)
        let next = try keys.key(view, id)
        if let current = key, try !attribute.isSameKey(current, next) {
          sections.append(ResultSection(key: current, items: items))
          items = []
          key = next
        }
        if key == nil { key = next }
        items.append(value)
      }
      return true
    }
    if let key, !items.isEmpty { sections.append(ResultSection(key: key, items: items)) }
    return sections
  }

  /// Returns the sections of the results of `query`, with their counts but without the records.
  ///
  /// - Throws: the errors of ``sections(_:by:)``.
  public func sectionRanges<E: Entity, Key: Equatable & Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>
  ) throws(StoreError) -> [SectionRange<Key>] {
    let attribute = E.attributes[keyPath: path]
    try query.check(sectionedBy: attribute)
    var sections: [SectionRange<Key>] = []
    var start = 0
    let keys = try sectionKeys(query, attribute, path)
    for index in keys.indices.dropFirst()
    where try !attribute.isSameKey(keys[index], keys[index - 1]) {
      sections.append(SectionRange(key: keys[start], range: start..<index))
      start = index
    }
    if start < keys.count {
      sections.append(SectionRange(key: keys[start], range: start..<keys.count))
    }
    return sections
  }

  /// Returns the section key of each result.
  private func sectionKeys<E: Entity, Key: Equatable & Sendable>(
    _ query: Query<E>, _ attribute: Attribute<E, Key>,
    _ path: KeyPath<E.Attributes, Attribute<E, Key>>
  ) throws(StoreError) -> [Key] {
    if attribute.derived == nil { return try values(query, path) }
    let core = access.core
    let run = try core.run(query)
    let keys = try SectionKeys(attribute, run.entity, core)
    var found: [Key] = []
    try run.forEach { id, bytes in
      try core.withCurrentLayout(bytes, id: id, of: run.entity) { (view) throws(StoreError) in
        found.append(try keys.key(view, id))
      }
      return true
    }
    return found
  }
}

/// Reads the section key of each record.
struct SectionKeys<E: Entity, Key: Sendable> {
  private let attribute: Attribute<E, Key>
  private let entity: StoredEntity
  /// The operand of a computed key and its evaluator; `nil` if the key is a stored attribute.
  private let computed: (operand: BoundOperand, evaluator: ConditionEvaluator)?

  init(
    _ attribute: Attribute<E, Key>, _ entity: StoredEntity, _ core: TransactionCore
  ) throws(StoreError) {
    self.attribute = attribute
    self.entity = entity
    guard attribute.derived != nil else {
      computed = nil
      return
    }
    var binding = ConditionBinding(entity, [:], core: core)
    computed = (
      try binding.operand(attribute.operand),
      ConditionEvaluator(.constant(true), entity: entity, core: core)
    )
  }

  /// Returns the key of a record in the current layout.
  func key(_ view: RecordView, _ id: UInt64) throws(StoreError) -> Key {
    guard let computed else {
      var reader = RecordReader(view, entity: entity.label, recordID: id)
      reader.move(to: view.layout.slots[attribute.ordinal], in: view.layout)
      return try attribute.coding.read(from: &reader)
    }
    let value: Value
    do {
      let record = RecordUnderTest(view: view, id: id)
      value = try computed.evaluator.value(computed.operand, record).owned
    } catch {
      throw StoreError(wrapping: error)
    }
    guard let key = attribute.loaded(value) else {
      throw .badQuery("a value of '\(ConditionPrinter.text(attribute.operand))' is no \(Key.self)")
    }
    return key
  }
}

extension Attribute where Value: Equatable {
  /// Returns whether two keys are equal in an index, in which not-a-number equals itself.
  fileprivate func isSameKey(_ a: Value, _ b: Value) throws(StoreError) -> Bool {
    if a == b { return true }
    return PackedKeys.element(try stored(a).value)
      == PackedKeys.element(try stored(b).value)
  }
}

extension Query {
  func check<V>(sectionedBy attribute: Attribute<E, V>) throws(StoreError) {
    if let failure = attribute.failure { throw failure }
    let name = ConditionPrinter.text(attribute.operand)
    guard attribute.coding.storage.type.isIndexable else {
      throw .badQuery(
        "'\(name)' holds JSON or a document, whose values have no order that keeps equal ones "
          + "together; make sections by a scalar attribute")
    }
    guard let first = try sortKeys.first?.term.get(), first.operand == attribute.operand,
      first.options.isEmpty
    else {
      throw .badQuery(
        "sections by '\(name)' need an order whose first key is '\(name)', compared exactly")
    }
  }
}
