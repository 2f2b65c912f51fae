internal import LodestoreBytes
internal import LodestoreFormat

/// Writes the sort key of a record: comparing keys as bytes gives the order of the records.
///
/// Keys end with the record's id, so no two are equal.
final class SortKeyWriter {
  /// A term over an attribute itself, for records of the current layout.
  private struct SlotTerm {
    var slot: RecordLayout.Slot
    var isDescending: Bool
    var isNullFirst: Bool
  }

  private let order: BoundOrder
  private let evaluator: ConditionEvaluator
  private let layout: RecordLayout
  /// All terms except ids; `nil` if one of them is not over an attribute of ``layout``.
  private let slotTerms: [SlotTerm]?
  @exclusivity(unchecked) private var element = KeyEncoder()
  @exclusivity(unchecked) private(set) var key: [UInt8] = []
  /// The number of bytes of ``key`` that the first term takes.
  @exclusivity(unchecked) private(set) var firstTermCount = 0
  /// The byte that follows each term in a key.
  ///
  /// Without the separator, the last byte of a text could be confused with the byte of a following
  /// null or inverted id.
  static let separator: UInt8 = 0x7f

  init(_ order: BoundOrder, evaluator: ConditionEvaluator) {
    self.order = order
    self.evaluator = evaluator
    let layout = evaluator.entity.layout
    self.layout = layout
    let terms = order.terms.filter { !$0.isRecordID }
    let slotTerms = terms.compactMap { term -> SlotTerm? in
      guard let attribute = term.attribute, !term.isOfDocument, term.options.isEmpty,
        let index = layout.slotIndex(ofAttribute: attribute.number)
      else { return nil }
      return SlotTerm(
        slot: layout.slots[index], isDescending: term.isDescending, isNullFirst: term.isNullFirst)
    }
    self.slotTerms = slotTerms.count == terms.count ? slotTerms : nil
  }

  /// The distance and the id in a key of an order by distance alone; `nil` for another key.
  static func distance(inKey key: [UInt8]) -> (distance: Double, id: UInt64)? {
    key._withBytes { key in
      guard let id = KeyDecoder.recordIDSuffix(key) else { return nil }
      // The distance follows the byte for the kind of a value.
      var decoder = KeyDecoder(key[1...])
      guard case .double(let distance)? = try? decoder.next() else { return nil }
      return (distance, id)
    }
  }

  /// Writes the record's key to ``key``.
  func write(_ bytes: ByteView, id: UInt64) throws {
    if order.isByID {
      key.removeAll(keepingCapacity: true)
      append(id)
      firstTermCount = key.count
    } else {
      try write(RecordUnderTest(view: try evaluator.entity.view(bytes, id: id), id: id))
    }
  }

  /// Writes the key of a record with a view to ``key``.
  func write(_ record: RecordUnderTest) throws {
    if let slotTerms, record.view.isOf(layout) { return try write(record, slotTerms) }
    key.removeAll(keepingCapacity: true)
    var isFirst = true
    for term in order.terms where !term.isRecordID {
      element.reset()
      let isNull = try !append(term, record)
      append(isNull: isNull, term)
      key.append(Self.separator)
      if isFirst { firstTermCount = key.count }
      isFirst = false
    }
    append(record.id)
  }

  /// Writes the key from slots, without evaluating operands, and copies it once.
  private func write(_ record: RecordUnderTest, _ terms: [SlotTerm]) throws {
    element.reset()
    var firstCount = 0
    for (place, term) in terms.enumerated() {
      if record.view.isNull(term.slot) {
        element.append(raw: term.isNullFirst ? 0 : 255)
      } else {
        let start = element.count
        try IndexTuple.append(term.slot, of: record.view, into: &element)
        if term.isDescending { element.invert(from: start) }
      }
      element.append(raw: Self.separator)
      if place == 0 { firstCount = element.count }
    }
    firstTermCount = firstCount
    element.append(recordID: order.isTieDescending ? ~record.id : record.id)
    key.removeAll(keepingCapacity: true)
    key.append(contentsOf: element.bytes)
  }

  private func append(_ id: UInt64) {
    let id = order.isTieDescending ? ~id : id
    withUnsafeBytes(of: id.bigEndian) { key.append(contentsOf: $0) }
  }

  /// Appends ``element`` to the key, inverted if the term is descending.
  private func append(isNull: Bool, _ term: BoundOrder.Term) {
    if isNull {
      key.append(term.isNullFirst ? 0 : 255)
    } else if term.isDescending {
      for byte in element.bytes { key.append(~byte) }
    } else {
      key.append(contentsOf: element.bytes)
    }
  }

  /// Encodes the term's value to ``element``; returns false for null.
  private func append(_ term: BoundOrder.Term, _ record: RecordUnderTest) throws -> Bool {
    if let attribute = term.attribute, !term.isOfDocument, term.options.isEmpty {
      guard let index = record.view.layout.slotIndex(ofAttribute: attribute.number) else {
        if attribute.initial == .null { return false }
        try element.append(attribute.initial)
        return true
      }
      let slot = record.view.layout.slots[index]
      if record.view.isNull(slot) { return false }
      try IndexTuple.append(slot, of: record.view, into: &element)
      return true
    }
    let value = try evaluator.value(term.operand, record)
    guard try append(value, term.options) else { return false }
    if term.attribute == nil { appendTieBreak(of: value) }
    return true
  }

  /// Appends bytes that order numbers with the same nearest double, which the key already contains.
  ///
  /// Computed integers and decimals thus keep their exact order, also among numbers with a
  /// fraction. Keys of documents have no such part, since programs may have stored page tokens that
  /// contain such keys.
  private func appendTieBreak(of value: DynamicValue) {
    switch (value, value.number) {
    case (.bool, _): break
    case (.decimal(let decimal), _): element.append(decimal)
    case (_, .integer(let integer)?):
      element.append(Int64(truncatingIfNeeded: integer - Int128(Double(integer))))
    case (_, .double?): element.append(Int64(0))
    case (_, nil): break
    }
  }

  private func append(_ value: DynamicValue, _ options: TextOptions) throws -> Bool {
    // A document may mix kinds of values, so values are ordered by kind first.
    let kind: UInt8 =
      switch value {
      case .bool: 1
      case .integer, .unsigned, .double, .decimal: 2
      case .date: 3
      case .text, .string: 4
      default: 5
      }
    withUnsafeBytes(of: kind) { element.append(raw: ByteView($0)) }
    switch value {
    case .null, .collection, .list: return false
    case .text, .string:
      var sortKey: [UInt8] = []
      _ = value.withText { TextOrder.appendSortKey(of: $0, options: options, to: &sortKey) }
      sortKey._withBytes { element.append(data: $0) }
    case .bool(let flag): element.append(flag)
    // All numbers in documents are ordered as doubles.
    case .integer, .unsigned, .double, .decimal: element.append(value.number?.double ?? .nan)
    case .date(let seconds): element.append(date: seconds)
    case .uuid(let uuid): element.append(uuid)
    case .data(let bytes): element.append(data: bytes)
    case .bytes(let bytes): bytes._withBytes { element.append(data: $0) }
    }
    return true
  }
}
