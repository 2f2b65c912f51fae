internal import LodestoreFormat

/// A number or value computed from the records of a group, or from all that a query finds; null and
/// not-a-number are left out.
public struct Aggregate<E: Entity, Result: Sendable>: Sendable {
  let term: Swift.Result<GroupTerm, StoreError>
  let read: @Sendable (StoredValue) -> Result?

  private init<V>(
    _ function: GroupTerm.Function, _ attribute: Attribute<E, V>,
    _ read: @escaping @Sendable (StoredValue) -> Result?
  ) {
    self.read = read
    term =
      attribute.failure.map { .failure($0) } ?? .success(GroupTerm(function, attribute.operand))
  }

  /// How many records have a value.
  public static func count<V>(_ path: KeyPath<E.Attributes, Attribute<E, V>>) -> Aggregate<E, Int>
  where Result == Int {
    Aggregate<E, Int>(.count, E.attributes[keyPath: path]) { Int._value(from: $0) }
  }

  /// The sum of the values; 0 when there is none, `nil` when the type does not hold it.
  public static func sum<V: AttributeValue & Numeric>(
    _ path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> Aggregate<E, V?>
  where Result == V? {
    Aggregate<E, V?>(.sum, E.attributes[keyPath: path]) { .some(V.value(fromSum: $0)) }
  }

  /// The sum of the values that are there; 0 when there is none, `nil` when the type does not hold it.
  public static func sum<V: AttributeValue & Numeric>(
    _ path: KeyPath<E.Attributes, Attribute<E, V?>>
  ) -> Aggregate<E, V?>
  where Result == V? {
    Aggregate<E, V?>(.sum, E.attributes[keyPath: path]) { .some(V.value(fromSum: $0)) }
  }

  /// The mean of the values; `nil` when there is none.
  public static func average<V>(_ path: KeyPath<E.Attributes, Attribute<E, V>>) -> Aggregate<
    E, Double?
  >
  where Result == Double? {
    Aggregate<E, Double?>(.average, E.attributes[keyPath: path]) { Double?._value(from: $0) }
  }

  /// The lowest value; `nil` when there is none.
  @_disfavoredOverload
  public static func minimum<V>(_ path: KeyPath<E.Attributes, Attribute<E, V>>) -> Aggregate<E, V?>
  where Result == V? {
    Aggregate<E, V?>(.min, optional: E.attributes[keyPath: path])
  }

  /// The lowest value that is there; `nil` when there is none.
  public static func minimum<V>(_ path: KeyPath<E.Attributes, Attribute<E, V?>>) -> Aggregate<E, V?>
  where Result == V? {
    Aggregate<E, V?>(.min, E.attributes[keyPath: path])
  }

  /// The highest value; `nil` when there is none.
  @_disfavoredOverload
  public static func maximum<V>(_ path: KeyPath<E.Attributes, Attribute<E, V>>) -> Aggregate<E, V?>
  where Result == V? {
    Aggregate<E, V?>(.max, optional: E.attributes[keyPath: path])
  }

  /// The highest value that is there; `nil` when there is none.
  public static func maximum<V>(_ path: KeyPath<E.Attributes, Attribute<E, V?>>) -> Aggregate<E, V?>
  where Result == V? {
    Aggregate<E, V?>(.max, E.attributes[keyPath: path])
  }

  private init(_ function: GroupTerm.Function, _ attribute: Attribute<E, Result>) {
    self.init(function, attribute) { attribute.loaded($0.value) }
  }

  private init<V>(_ function: GroupTerm.Function, optional attribute: Attribute<E, V>)
  where Result == V? {
    self.init(function, attribute) {
      $0.isNull ? .some(nil) : attribute.loaded($0.value).map { .some($0) }
    }
  }
}

extension Aggregate where Result == Int {
  /// Refused: the number of all records of a group, which each group has.
  @available(
    *, unavailable,
    message: "each group has its count: group.count; of all records, store.count(query)"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static var count: Aggregate<E, Int> {
    Aggregate<E, Int>(.count, Attribute<E, Int>(0)) { Int._value(from: $0) }
  }
}

extension Aggregate {
  fileprivate func result(_ value: Value) throws(StoreError) -> Result {
    guard let result = read(StoredValue(value)) else {
      throw .badQuery("an aggregate has a result that is no \(Result.self)")
    }
    return result
  }
}

extension AttributeValue {
  /// A sum may have another kind than what was summed: floats add up to a double, nothing to 0.
  fileprivate static func value(fromSum stored: StoredValue) -> Self? {
    if let value = Self._value(from: stored) { return value }
    guard case .integer(let number) = stored.value else { return nil }
    return Self._value(from: StoredValue(.double(Double(number))))
      ?? Self._value(
        from: StoredValue(
          .decimal(
            DecimalValue(
              isNegative: number < 0, exponent: 0, significand: UInt128(number.magnitude)))))
  }
}

/// The records of a query that have one value in an attribute.
///
/// `Values` is the result of the one aggregate, or a tuple of the results of several. It is no
/// parameter pack: of a pack of one, the compiler takes no optional where `??` or `!` want it.
public struct Group<Key: Sendable, Values: Sendable>: Sendable {
  /// The value.
  public let key: Key
  /// How many records have it.
  public let count: Int
  /// The results of the aggregates over the group.
  public let values: Values
}

extension ReadableTransaction where Self: ~Copyable {
  /// The groups that the records of `query` form by their values at `path`, ascending by these.
  ///
  ///     let licenses = try snapshot.groups(
  ///       Pod.all, by: \.license, .sum(\.downloads), .maximum(\.updatedAt),
  ///       having: { $0.count > 10 })
  ///
  /// The query's order, limit and offset do not count.
  ///
  /// - Parameter condition: which groups to return.
  /// - Complexity: O(records that match), and memory for each group that is returned; beyond some
  ///   64 MB the others wait in a scratch file beside the store. Where the entries of an index
  ///   tell the condition and have the attribute, and the numbers and dates of the aggregates, no
  ///   record is read.
  public func groups<E: Entity, Key: Sendable, each Result: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    _ aggregate: repeat Aggregate<E, each Result>,
    having condition: (Group<Key, (repeat each Result)>) -> Bool = { _ in true }
  ) throws(StoreError) -> [Group<Key, (repeat each Result)>] {
    var terms: [GroupTerm] = []
    for term in repeat (each aggregate).term { terms.append(try term.get()) }
    var groups: [Group<Key, (repeat each Result)>] = []
    try forEachGroup(query, by: path, terms) { (key, count, values) throws(StoreError) in
      var position = -1
      func next<R>(_ aggregate: Aggregate<E, R>) throws(StoreError) -> R {
        position += 1
        return try aggregate.result(values[position])
      }
      let group = Group(key: key, count: count, values: (repeat try next(each aggregate)))
      if condition(group) { groups.append(group) }
    }
    return groups
  }

  /// The groups that the records of `query` form by their values at `path`, with their counts alone.
  ///
  /// The form for several aggregates takes none, too. But Swift 6.3 finds no type for a call of it
  /// that a member follows, as in `groups(Pod.all, by: \.license).count`.
  public func groups<E: Entity, Key: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    having condition: (Group<Key, Void>) -> Bool = { _ in true }
  ) throws(StoreError) -> [Group<Key, Void>] {
    var groups: [Group<Key, Void>] = []
    try forEachGroup(query, by: path, []) { (key, count, _) throws(StoreError) in
      let group = Group(key: key, count: count, values: ())
      if condition(group) { groups.append(group) }
    }
    return groups
  }

  /// The groups that the records of `query` form by their values at `path`, with what one aggregate
  /// gives.
  ///
  ///     let years = try snapshot.groups(Fireball.all, by: \.year, .sum(\.energy))
  ///     for year in years { print(year.key, year.values ?? 0) }
  ///
  /// As the form for several, whose results are a tuple.
  public func groups<E: Entity, Key: Sendable, Result: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    _ aggregate: Aggregate<E, Result>,
    having condition: (Group<Key, Result>) -> Bool = { _ in true }
  ) throws(StoreError) -> [Group<Key, Result>] {
    let term = try aggregate.term.get()
    var groups: [Group<Key, Result>] = []
    try forEachGroup(query, by: path, [term]) { (key, count, values) throws(StoreError) in
      let group = Group(key: key, count: count, values: try aggregate.result(values[0]))
      if condition(group) { groups.append(group) }
    }
    return groups
  }

  private func forEachGroup<E: Entity, Key: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>, _ terms: [GroupTerm],
    _ body: (Key, Int, [Value]) throws(StoreError) -> Void
  ) throws(StoreError) {
    let attribute = E.attributes[keyPath: path]
    if let failure = attribute.failure { throw failure }
    let run = try access.core.run(query.whole())
    try run.forEachGroup(by: [attribute.operand], terms) { (row) throws(StoreError) in
      guard let key = attribute.loaded(row.keys[0]) else {
        throw .badQuery(
          "a value of '\(ConditionPrinter.text(attribute.operand))' is no \(Key.self)")
      }
      try body(key, row.count, row.values)
    }
  }

  /// The results of the aggregates over all records that `query` finds.
  ///
  ///     let (total, newest) = try snapshot.aggregate(Pod.all, .sum(\.downloads), .maximum(\.updatedAt))
  ///
  /// The query's order, limit and offset do not count.
  ///
  /// - Complexity: O(records that match), or their entries in an index that tells the condition and has
  ///   the attributes. Where only `Aggregate.minimum(_:)` and
  ///   `Aggregate.maximum(_:)` are asked for, each is the first match in the order of an index that has
  ///   the attribute first, or behind those for which the condition gives one value.
  public func aggregate<E: Entity, each Result: Sendable>(
    _ query: Query<E>, _ aggregate: repeat Aggregate<E, each Result>
  ) throws(StoreError) -> (repeat each Result) {
    var terms: [GroupTerm] = []
    for term in repeat (each aggregate).term { terms.append(try term.get()) }
    let run = try access.core.run(query.whole())
    let values = try run.totals(terms)
    var position = -1
    func next<R>(_ aggregate: Aggregate<E, R>) throws(StoreError) -> R {
      position += 1
      return try aggregate.result(values[position])
    }
    return (repeat try next(each aggregate))
  }
}
