#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import LMDB
internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// Some attributes of what `query` finds, in its order, without decoding the others.
  ///
  ///     let versions = try snapshot.values(Pod.where { $0.name == "Alamofire" }, \.version, \.updatedAt)
  ///
  /// Where one index has them all and says which records match, no record is read. Distinct values
  /// of all records, in the order of the ids, take a step in an index that has just these
  /// attributes for each value; where an index has further ones, reading ends with the last value
  /// that is new.
  ///
  /// - Parameter distinct: whether each combination comes once, where it first appears; limit and
  ///   offset then count combinations.
  /// - Throws: ``StoreError/Code/invalidQuery`` for what is worked out of an attribute.
  public func values<E: Entity, each V>(
    _ query: Query<E>, _ path: repeat KeyPath<E.Attributes, Attribute<E, each V>>,
    distinct: Bool = false
  ) throws(StoreError) -> [(repeat each V)] {
    let attributes = E.attributes
    return try tuples(query, repeat attributes[keyPath: each path], distinct: distinct)
  }

  private func tuples<E: Entity, each V>(
    _ query: Query<E>, _ attribute: repeat Attribute<E, each V>, distinct: Bool
  ) throws(StoreError) -> [(repeat each V)] {
    let core = access.core
    let entity = try core.entity(E.self)
    var request = try query.request()
    var numbers: [UInt32] = []
    for attribute in repeat each attribute {
      guard attribute.storedOrdinal != nil,
        let stored = entity.description.attribute(named: attribute.name)
      else {
        throw .badQuery("'\(attribute.name)' is fetched as \(E.schema.name) does not store it")
      }
      numbers.append(stored.number)
    }
    try request.checkWindow()
    let window = ResultWindow(request, isDistinct: distinct)
    let hasLimit = request.limit != nil
    if distinct {
      request.limit = nil
      request.offset = 0
    }
    let run = try core.run(request, for: entity)
    var rows: [(repeat each V)] = []
    let body = { (values: [Value]) throws(StoreError) -> Bool in
      var place = -1
      func next<T>(_ attribute: Attribute<E, T>) throws(StoreError) -> T {
        place += 1
        guard let value = attribute.coding.load(StoredValue(values[place])) else {
          throw .badQuery("an index key of \(entity.name) is no \(T.self)")
        }
        return value
      }
      guard try window.admits({ ProjectionKey.key(of: values) }) else { return window.goesOn }
      rows.append((repeat try next(each attribute)))
      return window.goesOn
    }
    if distinct {
      if try run.forEachDistinct(numbers, hasLimit: hasLimit, body) { return rows }
      window.rowCount = try run.distinctCount(numbers, hasLimit: hasLimit)
    }
    if try run.forEachCovered(numbers, body) { return rows }
    try run.forEach { id, bytes in
      try core.withCurrentLayout(bytes, id: id, of: entity) { (view) throws(StoreError) in
        guard
          try window.admits({ () throws(StoreError) in
            try ProjectionKey.key(of: numbers, in: view)
          })
        else { return }
        var reader = RecordReader(view, entity: entity.label, recordID: id)
        var place = -1
        func next<T>(_ attribute: Attribute<E, T>) throws(StoreError) -> T {
          place += 1
          guard let index = view.layout.slotIndex(ofAttribute: numbers[place]) else {
            throw .damagedRecord(
              entity: entity.name, recordID: id, FormatError("its layout lacks an attribute"))
          }
          reader.move(to: view.layout.slots[index], in: view.layout)
          return try attribute.coding.read(from: &reader)
        }
        rows.append((repeat try next(each attribute)))
      }
      return window.goesOn
    }
    return rows
  }

  /// One attribute of what `query` finds, in its order, without decoding the others.
  public func values<E: Entity, V>(
    _ query: Query<E>, _ path: KeyPath<E.Attributes, Attribute<E, V>>, distinct: Bool = false
  ) throws(StoreError) -> [V] {
    let rows: [(V)] = try tuples(query, E.attributes[keyPath: path], distinct: distinct)
    return rows
  }

  /// Some attributes of what `query` finds as dictionaries, by their names; null is left out.
  ///
  /// Numbers are `Int`, `UInt64` beyond it, or `Double`; JSON and documents are `JSONValue`. A
  /// name may lead into JSON: `license.type`.
  public func dictionaries<E: Entity>(
    _ query: Query<E>, attributes names: [String]
  ) throws(StoreError) -> [[String: any AttributeValue]] {
    let core = access.core
    let run = try core.run(query)
    var binding = ConditionBinding(run.entity)
    var operands: [(String, BoundOperand)] = []
    for name in names {
      let steps = name.split(separator: ".", omittingEmptySubsequences: false)
        .map { ValuePath.Step.member(String($0)) }
      operands.append((name, try binding.operand(.path(ValuePath(.record, steps)))))
    }
    let evaluator = ConditionEvaluator(.constant(true), entity: run.entity, core: core)
    var rows: [[String: any AttributeValue]] = []
    try run.forEach { id, bytes in
      let record = RecordUnderTest(view: try run.entity.view(bytes, id: id), id: id)
      var row: [String: any AttributeValue] = [:]
      for (name, operand) in operands {
        row[name] = try evaluator.value(operand, record).swiftValue
      }
      rows.append(row)
      return true
    }
    return rows
  }
}

/// Applies limit and offset to distinct rows.
private final class ResultWindow {
  private let isDistinct: Bool
  private var seen: Set<[UInt8]> = []
  private var toSkip: Int
  private var left: Int
  /// How many distinct rows there are, where that is known before.
  var rowCount: Int?

  init(_ request: QueryRequest, isDistinct: Bool) {
    self.isDistinct = isDistinct
    toSkip = request.offset
    left = request.limit ?? .max
  }

  /// Whether more rows may follow; without `distinct` the plan applies limit and offset.
  var goesOn: Bool { !isDistinct || left > 0 && seen.count != rowCount }

  func admits(_ key: () throws(StoreError) -> [UInt8]) throws(StoreError) -> Bool {
    guard isDistinct else { return true }
    guard left > 0, seen.insert(try key()).inserted else { return false }
    if toSkip > 0 {
      toSkip -= 1
      return false
    }
    left -= 1
    return true
  }
}

/// Attributes as bytes that are equal where the values are.
private enum ProjectionKey {
  static func key(of values: [Value]) -> [UInt8] {
    values.flatMap { IndexConstraint.element($0) }
  }

  static func key(
    of numbers: [UInt32], in view: RecordView
  ) throws(StoreError) -> [UInt8] {
    var encoder = KeyEncoder()
    for number in numbers {
      guard let index = view.layout.slotIndex(ofAttribute: number) else { continue }
      let slot = view.layout.slots[index]
      if view.isNull(slot) {
        encoder.appendNull()
      } else if slot.type.isIndexable {
        try wrappingErrors {
          try IndexTuple.append(slot, of: view, into: &encoder)
        }
      } else {
        encoder.append(data: view.variableBytes(slot))
      }
    }
    return Array(encoder.bytes)
  }
}

extension DynamicValue {
  /// The value as the Swift type that stands for its kind; `nil` for null.
  var swiftValue: (any AttributeValue)? {
    switch owned {
    case .null: nil
    case .bool(let flag): flag
    case .integer(let number): Int(number)
    case .unsigned(let number): number
    case .double(let number): number
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .uuid(let uuid): UUID._value(from: StoredValue(.uuid(uuid)))
    case .decimal(let number): Decimal(number)
    case .string(let text): text
    case .data(let bytes): Data(bytes)
    case .document(let bytes): bytes.withUnsafeBytes { try? JSONValue(anyDocument: $0) }
    }
  }
}
