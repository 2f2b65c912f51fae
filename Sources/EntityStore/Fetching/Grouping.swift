internal import LodestoreFormat

/// A value computed from the records of a group or from all records that a query finds.
///
/// Null and not-a-number are ignored.
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

  /// The number of records that have a value.
  public static func count<V>(_ path: KeyPath<E.Attributes, Attribute<E, V>>) -> Aggregate<E, Int>
  where Result == Int {
    Aggregate<E, Int>(.count, E.attributes[keyPath: path]) { Int._value(from: $0) }
  }

  /// The sum of the values; 0 without values, and `nil` if the type cannot hold the sum.
  public static func sum<V: AttributeValue & Numeric>(
    _ path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> Aggregate<E, V?>
  where Result == V? {
    Aggregate<E, V?>(.sum, E.attributes[keyPath: path]) { .some(V.value(fromSum: $0)) }
  }

  /// The sum of the values that are not null; 0 without values, and `nil` if the type cannot hold
  /// the sum.
  public static func sum<V: AttributeValue & Numeric>(
    _ path: KeyPath<E.Attributes, Attribute<E, V?>>
  ) -> Aggregate<E, V?>
  where Result == V? {
    Aggregate<E, V?>(.sum, E.attributes[keyPath: path]) { .some(V.value(fromSum: $0)) }
  }

  /// The mean of the values; `nil` without values.
  public static func average<V>(_ path: KeyPath<E.Attributes, Attribute<E, V>>) -> Aggregate<
    E, Double?
  >
  where Result == Double? {
    Aggregate<E, Double?>(.average, E.attributes[keyPath: path]) { Double?._value(from: $0) }
  }

  /// The lowest value; `nil` without values.
  @_disfavoredOverload
  public static func minimum<V>(_ path: KeyPath<E.Attributes, Attribute<E, V>>) -> Aggregate<E, V?>
  where Result == V? { Aggregate<E, V?>(.min, optional: E.attributes[keyPath: path]) }

  /// The lowest value that is not null; `nil` without values.
  public static func minimum<V>(_ path: KeyPath<E.Attributes, Attribute<E, V?>>) -> Aggregate<E, V?>
  where Result == V? { Aggregate<E, V?>(.min, E.attributes[keyPath: path]) }

  /// The highest value; `nil` without values.
  @_disfavoredOverload
  public static func maximum<V>(_ path: KeyPath<E.Attributes, Attribute<E, V>>) -> Aggregate<E, V?>
  where Result == V? { Aggregate<E, V?>(.max, optional: E.attributes[keyPath: path]) }

  /// The highest value that is not null; `nil` without values.
  public static func maximum<V>(_ path: KeyPath<E.Attributes, Attribute<E, V?>>) -> Aggregate<E, V?>
  where Result == V? { Aggregate<E, V?>(.max, E.attributes[keyPath: path]) }

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
  /// Refused, because each group already has the number of its records.
  @available(
    *, unavailable,
    message: "each group has its count: group.count; of all records, store.count(query)"
  )
  @_disfavoredOverload @_documentation(visibility: internal)
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
  /// Converts a sum, which may have another type than its values: the sum of no values is the
  /// integer 0 even for doubles and decimals.
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

/// The records of a query that have the same value in an attribute.
///
/// `Values` is the result of one aggregate, or a tuple of the results of several. A parameter pack
/// would not work for one aggregate: the compiler does not accept an optional from a pack of one
/// before `??` or `!`.
public struct Group<Key: Sendable, Values: Sendable>: Sendable {
  /// The value that the records have in common.
  public let key: Key
  /// The number of records in the group.
  public let count: Int
  /// The results of the aggregates for the group.
  public let values: Values
}

// One, two and more aggregates have overloads of their own, as have the values of attributes. A
// parameter pack could take any number. But then the compiler would not accept an optional from a
// pack of one. For longer expressions it would need many seconds, or fail.

extension ReadableTransaction where Self: ~Copyable {
  /// Groups the records of `query` by their values at `path`, in ascending order of these.
  ///
  ///     let licenses = try snapshot.groups(
  ///       Pod.all, by: \.license, .sum(\.downloads), .maximum(\.updatedAt),
  ///       having: { $0.count > 10 })
  ///
  /// The query's order, limit and offset are ignored.
  ///
  /// - Parameter condition: returns whether to return a group.
  /// - Complexity: O(records that match), and memory for each returned group. Beyond some 64 MB,
  ///   groups that are still being computed go to a scratch file next to the store. No record is
  ///   read if the entries of an index decide the condition and contain the attribute, and the
  ///   numbers and dates of the aggregates.
  public func groups<
    E: Entity, Key: Sendable, First: Sendable, Second: Sendable, Third: Sendable,
    each Result: Sendable
  >(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    _ first: Aggregate<E, First>, _ second: Aggregate<E, Second>, _ third: Aggregate<E, Third>,
    _ others: repeat Aggregate<E, each Result>,
    having condition: (Group<Key, (First, Second, Third, repeat each Result)>) -> Bool = { _ in
      true
    }
  ) throws(StoreError) -> [Group<Key, (First, Second, Third, repeat each Result)>] {
    var terms = [try first.term.get(), try second.term.get(), try third.term.get()]
    for term in repeat (each others).term { terms.append(try term.get()) }
    return try groups(query, by: path, terms, having: condition) { (values) throws(StoreError) in
      var position = -1
      func next<R>(_ aggregate: Aggregate<E, R>) throws(StoreError) -> R {
        position += 1
        return try aggregate.result(values[position])
      }
      return (try next(first), try next(second), try next(third), repeat try next(each others))
    }
  }

  /// Groups the records of `query` by their values at `path`, and counts the records of each group.
  public func groups<E: Entity, Key: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    having condition: (Group<Key, Void>) -> Bool = { _ in true }
  ) throws(StoreError) -> [Group<Key, Void>] {
    try groups(query, by: path, [], having: condition) { _ in () }
  }

  /// Groups the records of `query` by their values at `path`, with the result of one aggregate.
  ///
  ///     let years = try snapshot.groups(Fireball.all, by: \.year, .sum(\.energy))
  ///     for year in years { print(year.key, year.values ?? 0) }
  ///
  /// For two and more aggregates there are overloads whose results are a tuple.
  public func groups<E: Entity, Key: Sendable, Result: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    _ aggregate: Aggregate<E, Result>,
    having condition: (Group<Key, Result>) -> Bool = { _ in true }
  ) throws(StoreError) -> [Group<Key, Result>] {
    let term = try aggregate.term.get()
    return try groups(query, by: path, [term], having: condition) { (values) throws(StoreError) in
      try aggregate.result(values[0])
    }
  }

  /// Groups the records of `query` by their values at `path`, with the results of two aggregates.
  public func groups<E: Entity, Key: Sendable, First: Sendable, Second: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    _ first: Aggregate<E, First>, _ second: Aggregate<E, Second>,
    having condition: (Group<Key, (First, Second)>) -> Bool = { _ in true }
  ) throws(StoreError) -> [Group<Key, (First, Second)>] {
    let terms = [try first.term.get(), try second.term.get()]
    return try groups(query, by: path, terms, having: condition) { (values) throws(StoreError) in
      (try first.result(values[0]), try second.result(values[1]))
    }
  }

  private func groups<E: Entity, Key: Sendable, Values: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>, _ terms: [GroupTerm],
    having condition: (Group<Key, Values>) -> Bool,
    _ results: ([Value]) throws(StoreError) -> Values
  ) throws(StoreError) -> [Group<Key, Values>] {
    let attribute = E.attributes[keyPath: path]
    if let failure = attribute.failure { throw failure }
    let run = try access.core.run(query.whole())
    var groups: [Group<Key, Values>] = []
    try run.forEachGroup(by: [attribute.operand], terms) { (row) throws(StoreError) in
      guard let key = attribute.loaded(row.keys[0]) else {
        throw .badQuery(
          "a value of '\(ConditionPrinter.text(attribute.operand))' is no \(Key.self)")
      }
      let group = Group(key: key, count: row.count, values: try results(row.values))
      if condition(group) { groups.append(group) }
    }
    return groups
  }

  /// Computes several aggregates over all records that `query` finds.
  ///
  ///     let (total, newest) = try snapshot.aggregate(Pod.all, .sum(\.downloads), .maximum(\.updatedAt))
  ///
  /// The query's order, limit and offset are ignored.
  ///
  /// - Complexity: O(records that match), or O(their entries) in an index that decides the
  ///   condition and contains the attributes. If all aggregates are `Aggregate.minimum(_:)` and
  ///   `Aggregate.maximum(_:)`, each is the first match in the order of an index. This index must
  ///   have the attribute first, or after attributes that the condition fixes to one value.
  public func aggregate<E: Entity, First: Sendable, Second: Sendable, each Result: Sendable>(
    _ query: Query<E>, _ first: Aggregate<E, First>, _ second: Aggregate<E, Second>,
    _ others: repeat Aggregate<E, each Result>
  ) throws(StoreError) -> (First, Second, repeat each Result) {
    var terms = [try first.term.get(), try second.term.get()]
    for term in repeat (each others).term { terms.append(try term.get()) }
    let run = try access.core.run(query.whole())
    let values = try run.totals(terms)
    var position = -1
    func next<R>(_ aggregate: Aggregate<E, R>) throws(StoreError) -> R {
      position += 1
      return try aggregate.result(values[position])
    }
    return (try next(first), try next(second), repeat try next(each others))
  }

  /// Computes one aggregate over all records that `query` finds.
  ///
  ///     let total = try snapshot.aggregate(Pod.all, .sum(\.downloads)) ?? 0
  public func aggregate<E: Entity, Result: Sendable>(
    _ query: Query<E>, _ aggregate: Aggregate<E, Result>
  ) throws(StoreError) -> Result {
    let term = try aggregate.term.get()
    return try aggregate.result(try access.core.run(query.whole()).totals([term])[0])
  }
}
