internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// An aggregate to compute for each group.
struct GroupTerm: Sendable {
  enum Function: Sendable { case count, sum, min, max, average }

  var function: Function
  /// The value of each record that is aggregated.
  ///
  /// Without an operand, ``Function/count`` counts all records. With one, it counts the records
  /// that have a value.
  var operand: Operand?

  /// The path to the value; `nil` if records are counted or the value is computed.
  var path: ValuePath? { if case .path(let path)? = operand { path } else { nil } }

  init(_ function: Function, _ path: ValuePath) { self.init(function, .path(path)) }

  init(_ function: Function, _ operand: Operand? = nil) {
    self.function = function
    self.operand = operand
  }
}

/// A group: the records that have the same values in the operands of the grouping.
struct GroupRow: Sendable {
  var keys: [Value]
  var count: Int
  /// The results, one for each term; null if no record has a value.
  var values: [Value]
}

extension PlanRun {
  /// Returns the groups of the results by the values of `keys`, in ascending order of these.
  ///
  /// Canonically equivalent texts form one group. Limit and offset are ignored.
  ///
  /// - Complexity: O(records that match). Groups take memory up to some 64 MB, and beyond that a
  ///   scratch file in the store's folder. If an index decides the whole condition and contains the
  ///   attributes of the grouping and the terms, only its entries are read. If the index is in the
  ///   order of the groups, one group is in memory.
  func groups(by keys: [Operand], _ terms: [GroupTerm] = []) throws(StoreError) -> [GroupRow] {
    var rows: [GroupRow] = []
    try forEachGroup(by: keys, terms) { (row) throws(StoreError) in rows.append(row) }
    return rows
  }

  /// Visits the groups one after the other, as ``groups(by:_:)`` returns them.
  func forEachGroup(
    by keys: [Operand], _ terms: [GroupTerm], _ body: (GroupRow) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard start == nil else {
      throw .badQuery("groups and aggregates are of all records, and take no token to go on after")
    }
    let question = try GroupQuestion(keys, terms, entity, core)
    try wrappingErrors {
      guard let visited = try coveredGroups(question, body) else { return }
      try scannedGroups(question, skipping: visited, body)
    }
  }

  // MARK: By records

  private func scannedGroups(
    _ question: GroupQuestion, skipping visited: Int, _ body: (GroupRow) throws(StoreError) -> Void
  ) throws {
    let (keyTerms, functions) = (question.keyTerms, question.functions)
    let readers = question.readers
    let evaluator = ConditionEvaluator(.constant(true), entity: entity, core: core)
    let writer = GroupKeyWriter(keyTerms, evaluator: evaluator)
    let word = GroupWord(keyTerms, entity)
    var groups = GroupStates(
      termCount: readers.count,
      GroupSpilling(memory: groupMemory, beside: core.store.environment.path, functions))
    var lastGroup: Int?
    // Numbers to group by and to aggregate are read from their slots. Only other operands need a
    // view of the record.
    let needsView = word == nil && !keyTerms.isEmpty || readers.contains { $0.isOperand }
    try forEachMatch { id, bytes in
      let record = needsView ? RecordUnderTest(view: try entity.view(bytes, id: id), id: id) : nil
      // Consecutive records often belong to the same group.
      let isSame: Bool =
        if let word {
          try word.move(to: bytes, id)
        } else if let record {
          try writer.move(to: record)
        } else {
          true
        }
      let group: Int
      if isSame, let lastGroup {
        group = lastGroup
      } else if let word {
        group = try word.withKey { try groups.group(of: $0, tick: tick).number }
      } else {
        let found = try writer.key._withBytes { try groups.group(of: $0, tick: tick) }
        if found.isNew, let record { groups.append(try writer.values(record)) }
        group = found.number
      }
      lastGroup = group
      groups.states[group].count += 1
      let first = group * readers.count
      for index in readers.indices {
        switch readers[index] {
        case .records: break
        case .slot(let slot, let kind, _):
          guard let word = try slot.word(bytes, id) else { break }
          groups.totals[first + index].add(word, kind, functions[index])
        case .operand(let operand, _):
          guard let record else { break }
          try groups.add(try evaluator.value(operand, record), functions[index], first + index)
        }
      }
      return true
    }
    var toSkip = visited
    try groups.forEach(tick: { try tick() }) { key, count, totals, values in
      guard toSkip == 0 else {
        toSkip -= 1
        return
      }
      try body(
        GroupRow(
          keys: word.map { [$0.value(ofKey: key)] } ?? Array(values), count: count,
          values: question.values(count: count, totals)))
    }
  }
}

/// The keys and terms of groups, bound to an entity.
struct GroupQuestion {
  let keyTerms: [BoundOrder.Term]
  let functions: [GroupTerm.Function]
  let readers: [TermReader]

  init(
    _ keys: [Operand], _ terms: [GroupTerm], _ entity: StoredEntity, _ core: TransactionCore
  ) throws(StoreError) {
    let binding = ConditionBinding(entity, [:], core: core)
    var keyTerms: [BoundOrder.Term] = []
    for key in keys {
      let order = try BoundOrder([SortTerm(key)], binding)
      core.tracker?.note(order.region)
      let terms = order.terms
      if terms.contains(where: \.isRecordID) {
        throw .badQuery("every record is a group of its own by '\(ValuePath.recordIDName)'")
      }
      keyTerms += terms
    }
    self.keyTerms = keyTerms
    functions = terms.map(\.function)
    var readers: [TermReader] = []
    for term in terms {
      let reader = try TermReader(term, binding, entity)
      if case .operand(let operand, _) = reader { core.tracker?.note(operand.region) }
      readers.append(reader)
    }
    self.readers = readers
  }

  /// The attributes of the grouping and of the terms, with `nil` for a term that counts records.
  ///
  /// The property is `nil` if index entries do not contain the values of all of them.
  var attributes: (keys: [UInt32], terms: [UInt32?])? {
    var keys: [UInt32] = []
    for term in keyTerms {
      guard let attribute = term.attribute, term.isPlain, !attribute.isRecordID else { return nil }
      keys.append(attribute.number)
    }
    var terms: [UInt32?] = []
    for reader in readers {
      guard reader.isCount || reader.coveredNumber != nil else { return nil }
      terms.append(reader.coveredNumber)
    }
    return (keys, terms)
  }

  /// Returns the results of the terms for one group.
  func values(count: Int, _ totals: UnsafeBufferPointer<GroupTotal>) -> [Value] {
    readers.indices.map { index in
      if readers[index].isCount { return .integer(Int64(count)) }
      return totals[index].value(functions[index])
    }
  }
}

/// How the value of a term is read from a record.
enum TermReader {
  /// Reads no value, because the term counts records.
  case records
  /// Counts or adds a number, read from its slot without a view of the record.
  case slot(SlotOrder, WordSlot.Kind, UInt32)
  /// Evaluates an operand.
  ///
  /// The attribute's number is given if an index holds the same values.
  case operand(BoundOperand, UInt32?)

  var isCount: Bool { if case .records = self { true } else { false } }
  var isOperand: Bool { if case .operand = self { true } else { false } }

  /// The attribute whose values can be read from an index instead.
  var coveredNumber: UInt32? {
    switch self {
    case .records: nil
    case .slot(_, _, let number): number
    case .operand(_, let number): number
    }
  }

  init(_ term: GroupTerm, _ binding: ConditionBinding, _ entity: StoredEntity) throws(StoreError) {
    guard let source = term.operand else {
      self = .records
      return
    }
    guard let path = term.path, binding.relationship(path) == nil else {
      self = .operand(try Self.computed(source, term.function, binding), nil)
      return
    }
    let attribute = path.steps.count == 1 ? try? binding.attribute(of: path) : nil
    let isAdded = term.function == .sum || term.function == .average
    if isAdded, let attribute, attribute.type == .recordID {
      throw .badQuery(
        "'\(attribute.name)' is the id of a record, and ids are not added; ask for its minimum, "
          + "its maximum or the count")
    }
    if isAdded || term.function == .count, let attribute, attribute.type != .date,
      let kind = WordSlot.Kind(attribute.type),
      let slot = SlotOrder(try BoundOrder([SortTerm(path)], binding), entity)
    {
      self = .slot(slot, kind, attribute.number)
      return
    }
    var binding = binding
    let operand = try binding.operand(.path(path))
    guard let attribute, !attribute.isRecordID, attribute.type != .recordID else {
      self = .operand(operand, nil)
      return
    }
    // The keys of an index do not contain a text as it was written. A count needs only whether the
    // attribute is null, so the index serves it for every type.
    let isNumber = attribute.type != .bool && WordSlot.Kind(attribute.type) != nil
    self = .operand(operand, isNumber || term.function == .count ? attribute.number : nil)
  }

  /// Binds the operand of a term over a computed value or over related records.
  private static func computed(
    _ source: Operand, _ function: GroupTerm.Function, _ binding: ConditionBinding
  ) throws(StoreError) -> BoundOperand {
    var binding = binding
    let operand = try binding.operand(source.folded())
    let kind = OperandTypes.kind(operand)
    let isAdded = function == .sum || function == .average
    guard kind != .list, !isAdded || kind == .number || kind == .any else {
      throw .badQuery(
        "'\(ConditionPrinter.text(source))' is \(kind.words), which "
          + (isAdded ? "cannot be added" : "has no lowest or highest value"))
    }
    return operand
  }
}

extension BoundOrder {
  init(terms: [Term]) { self.terms = terms }
}
