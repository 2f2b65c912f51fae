internal import LMDB
internal import LodestoreFormat

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One aggregate of each group.
struct GroupTerm: Sendable {
  enum Function: Sendable { case count, sum, min, max, average }

  var function: Function
  /// The attribute that is aggregated.
  ///
  /// ``Function/count`` counts the records where there is none, and the
  /// records that have a value otherwise.
  var path: ValuePath?

  init(_ function: Function, _ path: ValuePath? = nil) {
    self.function = function
    self.path = path
  }
}

/// The records that have the same values at the paths of the grouping.
struct GroupRow: Sendable {
  var keys: [Value]
  var count: Int
  /// One for each term; null where no record has a value.
  var values: [Value]
}

extension PlanRun {
  /// The groups of the results by the values at `paths`, in ascending order of these.
  ///
  /// Texts that are canonically equivalent are one group. Limit and offset are ignored.
  ///
  /// - Complexity: O(records that match), and memory for each group. Where all records are asked
  ///   for and an index begins with the attributes, its entries alone are read for counts.
  func groups(
    by paths: [ValuePath], _ terms: [GroupTerm] = []
  ) throws(StoreError) -> [GroupRow] {
    guard start == nil else {
      throw .badQuery("groups and aggregates are of all records, and take no token to go on after")
    }
    let binding = ConditionBinding(entity)
    var keyTerms: [BoundOrder.Term] = []
    for path in paths {
      let terms = try BoundOrder([SortTerm(path)], binding).terms
      if terms.contains(where: \.attribute.isRecordID) {
        throw .badQuery("every record is a group of its own by '\(BoundAttribute.recordIDName)'")
      }
      keyTerms += terms
    }
    var readers: [TermReader] = []
    for term in terms { readers.append(try TermReader(term, binding, entity)) }
    do {
      if terms.isEmpty, !keyTerms.isEmpty, let rows = try countedGroups(keyTerms) { return rows }
      return try scannedGroups(keyTerms, terms.map(\.function), readers)
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  private func scannedGroups(
    _ keyTerms: [BoundOrder.Term], _ functions: [GroupTerm.Function], _ readers: [TermReader]
  ) throws -> [GroupRow] {
    let evaluator = ConditionEvaluator(.constant(true), entity: entity, core: core)
    let writer = GroupKeyWriter(keyTerms, evaluator: evaluator)
    var groupIndexes: [[UInt8]: Int] = [:]
    var groups: [Group] = []
    var lastIndex: Int?
    // Numbers are read from their slots, without a view.
    let needsView = !keyTerms.isEmpty || readers.contains { $0.isOperand }
    try forEachMatch { id, bytes in
      let record =
        needsView ? RecordUnderTest(view: try entity.view(bytes, id: id), id: id) : nil
      let isSame = try record.map { try writer.move(to: $0) } ?? true
      // Consecutive records are often of one group.
      var group = lastIndex
      if group == nil || !isSame {
        group = groupIndexes[writer.key]
        if group == nil {
          group = groups.count
          groupIndexes[writer.key] = groups.count
          let keys = try record.map { try writer.values($0) } ?? []
          groups.append(Group(key: writer.key, keys: keys, count: readers.count))
        }
        lastIndex = group
      }
      guard let group else { return true }
      groups[group].rowCount += 1
      for index in readers.indices {
        switch readers[index] {
        case .records: break
        case .slot(let slot, let kind):
          guard let word = try slot.word(bytes, id) else { break }
          groups[group].totals[index].add(word, kind, functions[index])
        case .operand(let operand):
          guard let record else { break }
          try groups[group].totals[index].add(
            try evaluator.value(operand, record), functions[index])
        }
      }
      return true
    }
    groups.sort { $0.key.lexicographicallyPrecedes($1.key) }
    return groups.map { group in
      let values = readers.indices.map { index -> Value in
        if case .records = readers[index] { return .integer(Int64(group.rowCount)) }
        return group.totals[index].value(functions[index])
      }
      return GroupRow(keys: group.keys, count: group.rowCount, values: values)
    }
  }

  /// The groups with their counts from the entries of an index that begins with the attributes.
  private func countedGroups(_ terms: [BoundOrder.Term]) throws -> [GroupRow]? {
    guard case .scan = plan.access, plan.residual == nil, start == nil,
      terms.allSatisfy({ $0.steps.isEmpty && !$0.attribute.isRecordID })
    else { return nil }
    let numbers = terms.map(\.attribute.number)
    guard
      let index = entity.indexes.first(where: {
        $0.description.attributes.starts(with: numbers)
      })
    else { return nil }
    var rows: [GroupRow] = []
    var isWhole = true
    var current: [UInt8] = []
    try core.walk(index, of: entity, .all, isReversed: false) { _, key in
      try tick()
      counts.entriesRead += 1
      if !current.isEmpty, key.count >= current.count,
        compareKeys(UnsafeRawBufferPointer(rebasing: key[..<current.count]), current) == 0,
        key.count == current.count || key[current.count] != 255
      {
        rows[rows.count - 1].count += 1
        return true
      }
      // Cut: only the records tell.
      guard !key.isEmpty else {
        isWhole = false
        return false
      }
      var decoder = KeyDecoder(key)
      var values: [Value] = []
      for _ in terms { values.append(try decoder.next()) }
      current = Array(key[..<decoder.offset])
      rows.append(GroupRow(keys: values, count: 1, values: []))
      return true
    }
    return isWhole ? rows : nil
  }

  private struct Group {
    var key: [UInt8]
    var keys: [Value]
    var rowCount = 0
    var totals: [GroupTotal]

    init(key: [UInt8], keys: [Value], count: Int) {
      self.key = key
      self.keys = keys
      totals = Array(repeating: GroupTotal(), count: count)
    }
  }
}

/// How the value of a term is read from a record.
private enum TermReader {
  /// The records themselves are counted.
  case records
  /// A number that is counted or added, read from its slot without a view of the record.
  case slot(SlotOrder, WordSlot.Kind)
  case operand(BoundOperand)

  var isOperand: Bool { if case .operand = self { true } else { false } }

  init(
    _ term: GroupTerm, _ binding: ConditionBinding, _ entity: StoredEntity
  ) throws(StoreError) {
    guard let path = term.path else {
      self = .records
      return
    }
    if [.sum, .average].contains(term.function), path.steps.count == 1,
      let attribute = try? binding.attribute(of: path), attribute.type == .recordID
    {
      throw .badQuery(
        "'\(attribute.name)' is the id of a record, and ids are not added; ask for its minimum, "
          + "its maximum or the count")
    }
    if [.count, .sum, .average].contains(term.function), path.steps.count == 1,
      let slot = try Self.slot(path, binding, entity)
    {
      self = slot
      return
    }
    var binding = binding
    self = .operand(try binding.operand(.path(path)))
  }

  private static func slot(
    _ path: ValuePath, _ binding: ConditionBinding, _ entity: StoredEntity
  ) throws(StoreError) -> Self? {
    let type = try binding.attribute(of: path).type
    guard type != .date, let kind = WordSlot.Kind(type),
      let slot = SlotOrder(try BoundOrder([SortTerm(path)], binding), entity)
    else { return nil }
    return .slot(slot, kind)
  }
}

func compareKeys(_ a: UnsafeRawBufferPointer, _ b: [UInt8]) -> Int {
  b.withUnsafeBytes { compareKeys(a, $0) }
}

/// Makes the keys by which groups are told apart: the values of the grouping as bytes.
private final class GroupKeyWriter {
  private let terms: [BoundOrder.Term]
  private let evaluator: ConditionEvaluator
  private let order: SortKeyWriter
  /// That of the last record.
  private(set) var key: [UInt8] = []
  private let collections: [BoundOrder.Term]

  init(_ terms: [BoundOrder.Term], evaluator: ConditionEvaluator) {
    self.terms = terms
    self.evaluator = evaluator
    order = SortKeyWriter(BoundOrder(terms: terms), evaluator: evaluator)
    collections = terms.filter { $0.attribute.type == .json || $0.attribute.type == .document }
  }

  /// Makes the key of `record`; returns whether it is that of the record before.
  func move(to record: RecordUnderTest) throws -> Bool {
    if terms.isEmpty { return true }
    try order.write(record)
    let ordered = order.key.dropLast(8)
    guard collections.isEmpty else {
      var whole = Array(ordered)
      // Collections have no order, and are compared by their bytes.
      for term in collections {
        let value = try evaluator.value(.attribute(term.attribute, term.steps), record)
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
      let value = try evaluator.value(.attribute(term.attribute, term.steps), record).owned
      // Both zeros are one group, and one key of an index.
      return if case .double(0) = value { .double(0) } else { value }
    }
  }
}

extension BoundOrder {
  init(terms: [Term]) { self.terms = terms }
}

extension DynamicValue {
  /// The value with its own bytes.
  var owned: Value {
    switch self {
    case .null, .list: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .unsigned(let number): .unsigned(number)
    case .double(let number): .double(number)
    case .decimal(let number): .decimal(number)
    case .date(let seconds): .date(seconds)
    case .uuid(let uuid): .uuid(uuid)
    case .text, .string: .string(string ?? "")
    case .data(let bytes): .data(Array(bytes))
    case .bytes(let bytes): .data(bytes)
    case .collection(let document): .document(Array(document))
    }
  }
}
