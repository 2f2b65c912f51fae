internal import LodestoreBytes
internal import LodestoreFormat

/// The key of groups by one number, date or Boolean, which is read directly from its slot.
final class GroupWord {
  private let slot: SlotOrder
  private let kind: WordSlot.Kind
  private var last: UInt64??
  private var bytes: [UInt8] = []

  /// Creates the key; `nil` if the grouping is by anything else.
  init?(_ terms: [BoundOrder.Term], _ entity: StoredEntity) {
    guard terms.count == 1, let attribute = terms[0].attribute,
      let kind = WordSlot.Kind(attribute.type),
      let slot = SlotOrder(BoundOrder(terms: terms), entity)
    else { return nil }
    self.slot = slot
    self.kind = kind
  }

  /// Reads the value of a record, and returns whether the record before had the same value.
  func move(to bytes: ByteView, _ id: UInt64) throws -> Bool {
    let word = try slot.word(bytes, id)
    defer { last = .some(word) }
    return last == .some(word)
  }

  func withKey<R>(_ body: (ByteView) throws -> R) rethrows -> R {
    bytes.removeAll(keepingCapacity: true)
    if let word = last ?? nil {
      bytes.append(1)
      Swift.withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    } else {
      bytes.append(0)
    }
    return try bytes._withBytes(body)
  }

  /// Returns the value of the group with `key`.
  func value(ofKey key: ByteView) -> Value {
    guard key.count == 9 else { return .null }
    let word = key.bigEndianUInt64(at: 1)
    switch kind {
    case .bool: return .bool(word != 0)
    case .uint64: return Int64(exactly: word).map { .integer($0) } ?? .unsigned(word)
    case .float, .double: return .double(OrderedWord.double(word))
    case .date: return .date(OrderedWord.double(word))
    default: return .integer(OrderedWord.integer(word))
    }
  }
}

/// Writes the keys that identify groups: the values of the grouping as bytes.
final class GroupKeyWriter {
  private let terms: [BoundOrder.Term]
  private let evaluator: ConditionEvaluator
  private let order: SortKeyWriter
  /// The key of the record that was last passed to ``move(to:)``.
  private(set) var key: [UInt8] = []
  private let collections: [BoundOrder.Term]

  init(_ terms: [BoundOrder.Term], evaluator: ConditionEvaluator) {
    self.terms = terms
    self.evaluator = evaluator
    order = SortKeyWriter(BoundOrder(terms: terms), evaluator: evaluator)
    collections = terms.filter { $0.isOfDocument || OperandTypes.kind($0.operand) == .any }
  }

  /// Writes the key of `record`, and returns whether the record before had the same key.
  func move(to record: RecordUnderTest) throws -> Bool {
    if terms.isEmpty { return true }
    try order.write(record)
    let ordered = order.key.dropLast(8)
    guard collections.isEmpty else {
      var whole = Array(ordered)
      // Arrays and objects have no sort key, so their bytes are appended to distinguish them.
      for term in collections {
        let value = try evaluator.value(term.operand, record)
        if case .collection(let document) = value { whole += [1] + Array(document) }
      }
      defer { key = whole }
      return whole == key
    }
    if ordered.elementsEqual(key) { return true }
    key.removeAll(keepingCapacity: true)
    key.append(contentsOf: ordered)
    return false
  }

  func values(_ record: RecordUnderTest) throws -> [Value] {
    try terms.map { term in
      let value = try evaluator.value(term.operand, record).owned
      // −0 and 0 form one group, since they share one key of an index.
      return if case .double(0) = value { .double(0) } else { value }
    }
  }
}
