internal import LodestoreFormat

/// A run of results with one value in an attribute.
public struct ResultSection<Key: Sendable, E: Entity>: Sendable {
  /// The value.
  public let key: Key
  /// The records, in the query's order.
  public let items: [E]

  /// How many there are.
  public var count: Int { items.count }
}

/// Where a section of fetched results is.
public struct SectionRange<Key: Sendable>: Sendable {
  /// The value that the records of the section have.
  public let key: Key
  /// The indices of its records in the results.
  public let range: Range<Int>

  /// How many there are.
  public var count: Int { range.count }
}

extension ReadableTransaction where Self: ~Copyable {
  /// What `query` finds, in sections by the values at `path`.
  ///
  ///     let byLicense = Pod.query.sorted(by: .ascending(\.license), .ascending(\.name))
  ///     for section in try snapshot.sections(byLicense, by: \.license) { … }
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` unless the first key of the order is the attribute
  ///   at `path`, a scalar, compared exactly: otherwise one value could come in several sections.
  public func sections<E: Entity, Key: AttributeValue & Equatable>(
    _ query: Query<E>, by path: any KeyPath<E, Key> & Sendable
  ) throws(StoreError) -> [ResultSection<Key, E>] {
    try query.check(sectionedBy: path)
    var sections: [ResultSection<Key, E>] = []
    var items: [E] = []
    try forEach(query) { value in
      if let last = items.last, !last[keyPath: path].isSameKey(as: value[keyPath: path]) {
        sections.append(ResultSection(key: last[keyPath: path], items: items))
        items = []
      }
      items.append(value)
      return true
    }
    if let last = items.last {
      sections.append(ResultSection(key: last[keyPath: path], items: items))
    }
    return sections
  }

  /// The sections of what `query` finds, with their counts and without the records.
  ///
  /// - Throws: as ``sections(_:by:)``.
  public func sectionRanges<E: Entity, Key: AttributeValue & Equatable>(
    _ query: Query<E>, by path: any KeyPath<E, Key> & Sendable
  ) throws(StoreError) -> [SectionRange<Key>] {
    try query.check(sectionedBy: path)
    var sections: [SectionRange<Key>] = []
    var start = 0
    let keys = try values(query, path)
    for (position, key) in keys.enumerated()
    where position > 0 && !key.isSameKey(as: keys[position - 1]) {
      sections.append(SectionRange(key: keys[start], range: start..<position))
      start = position
    }
    if start < keys.count {
      sections.append(SectionRange(key: keys[start], range: start..<keys.count))
    }
    return sections
  }
}

extension AttributeValue where Self: Equatable {
  /// Whether an index does not tell the two apart: not-a-number is one value there.
  fileprivate func isSameKey(as other: Self) -> Bool {
    self == other
      || IndexConstraint.element(storedValue.value)
        == IndexConstraint.element(other.storedValue.value)
  }
}

extension Query {
  fileprivate func check(sectionedBy path: any PartialKeyPath<E> & Sendable) throws(StoreError) {
    guard let position = E.schema.index(of: path) else {
      throw .badQuery("\(path) is no attribute of \(E.schema.name)")
    }
    let name = E.schema.attributes[position].name
    guard E.schema.attributes[position].storage.type.isIndexable else {
      throw .badQuery(
        "'\(name)' holds JSON or a document, whose values have no order that keeps equal ones "
          + "together; make sections by a scalar attribute")
    }
    guard let first = try sortKeys.first?.term.get(), first.path == ValuePath(attribute: name),
      first.options.isEmpty
    else {
      throw .badQuery(
        "sections by '\(name)' need an order whose first key is '\(name)', compared exactly")
    }
  }
}
