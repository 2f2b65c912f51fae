import Testing

@testable import EntityStore

/// Applies random operations to a store and to a ``StoreModel``.
///
/// Compares results, refusals, and the changes that a sink receives.
struct ModelRun<Version: ModelVersion> {
  typealias Item = ModelItem<Version>

  var model: StoreModel
  var tags: TagModel
  var numbers: SeededNumbers
  var operations = 0
  /// The recording of the store's changes, if a sink is attached.
  var recording: ChangeRecording?
  let keyCount = 200
  /// The next key that no row has had before.
  private var freshKeys: Int

  /// The error by which a transaction is aborted on purpose.
  struct Abort: Error {}

  init(
    model: StoreModel, tags: TagModel, numbers: SeededNumbers, freshKeys: Int
  ) {
    self.model = model
    self.tags = tags
    self.numbers = numbers
    self.freshKeys = freshKeys
  }

  var usedKeys: Int { freshKeys }

  /// Makes one transaction of up to 30 operations; one in eight transactions is aborted.
  mutating func runTransaction(on store: Store) throws {
    try transact(on: store) { (run, transaction) throws in
      for _ in 0...run.numbers.below(30) {
        run.operations += 1
        try run.runOperation(&transaction)
      }
      if run.numbers.oneIn(8) { throw Abort() }
    }
  }

  /// Runs `body` in a transaction, possibly several times.
  ///
  /// If the transaction commits, this run takes the state after `body`; otherwise it keeps its
  /// state.
  mutating func transact(
    on store: Store, _ body: (inout ModelRun, inout WriteTransaction) throws -> Void
  ) throws {
    let start = self
    var attempt = self
    recording?.forget()
    do {
      try store.write { transaction in
        // The closure may run again, so each attempt starts from the same state.
        attempt = start
        try body(&attempt, &transaction)
      }
      self = attempt
      try compareChanges(of: store, since: start)
    } catch is Abort {
      numbers = attempt.numbers
      operations = attempt.operations
      freshKeys = attempt.freshKeys
      try compareChanges(of: store, since: start)
    }
  }

  private mutating func runOperation(_ transaction: inout WriteTransaction) throws {
    switch numbers.below(1000) {
    case 0..<180: try insertOne(&transaction)
    case 180..<270: try insertMany(&transaction)
    case 270..<430: try update(&transaction)
    case 430..<470: try updateMany(&transaction)
    case 470..<600: try deleteSome(&transaction)
    case 600..<620: try deleteMany(&transaction)
    case 620..<700: try changeTags(&transaction)
    case 700..<850: try lookUp(transaction)
    case 850..<998: try walk(transaction)
    default:
      try transaction.delete(Item.all)
      model.deleteAll()
    }
  }

  // MARK: Random values

  mutating func randomRow() -> ModelRow {
    // Long notes have equal beginnings in the index, so only the records decide their order.
    let notes: [String?] = [
      nil, "", "a", "a\u{0}b", "e\u{301}", "é", String(repeating: "x", count: 461),
      String(repeating: "x", count: 480), String(repeating: "x", count: 480) + "y",
      String(repeating: "x", count: 470) + "\u{0}", "note \(numbers.below(50))",
    ]
    let groups: [String?] = [nil, nil, "A", "AF", "A\u{0}"]
    return ModelRow(
      key: "key \(numbers.below(keyCount))", number: randomNumber(),
      group: groups[numbers.below(groups.count)], note: notes[numbers.below(notes.count)],
      extra: Version.hasExtra ? numbers.below(5) : ModelRow.initialExtra)
  }

  mutating func randomNumber() -> Int { numbers.below(60) - 30 }

  /// A number that no other row has.
  mutating func freshRow() -> ModelRow {
    var row = randomRow()
    freshKeys += 1
    row.key = "fresh \(freshKeys)"
    row.group = nil
    return row
  }

  /// An id, mostly of a stored record.
  mutating func randomID() -> UInt64 {
    let next = Int(model.nextID)
    return UInt64(max(1, next - numbers.below(min(next, 500) + 1)))
  }

  mutating func randomMatching() -> ModelMatching {
    // The index over groups is rarely chosen, because most rows have no group.
    numbers.oneIn(8) ? .groupNumber : numbers.oneIn(2) ? .key : .all
  }

  /// A range of numbers that contains about a tenth of all rows' numbers.
  mutating func randomNumbers() -> ClosedRange<Int> {
    let first = randomNumber()
    return first...first + numbers.below(12)
  }

  /// The row as a program of this version sees it: without attributes that the version lacks.
  func seen(_ row: ModelRow?) -> ModelRow? {
    guard !Version.hasExtra, var row else { return row }
    row.extra = ModelRow.initialExtra
    return row
  }

  // MARK: Agreement

  /// Runs the model's and the store's operation, which must agree on the result or on the refusal.
  ///
  /// - Returns: whether there is a result.
  @discardableResult
  func agree<R: Equatable>(
    _ what: String, _ expected: () throws -> R, _ actual: () throws -> R
  ) throws -> Bool {
    let wanted = Result(catching: expected)
    do {
      let found = try actual()
      guard case .success(let value) = wanted else {
        throw Disagreement("\(what): gives \(found), the model refuses with \(wanted)")
      }
      if value != found { throw Disagreement("\(what): gives \(found), the model \(value)") }
      return true
    } catch let error as StoreError {
      try checkRefusal(what, wanted, error)
      return false
    }
  }

  func checkRefusal<R>(
    _ what: String, _ wanted: Result<R, any Error>, _ error: StoreError
  ) throws {
    // These errors end the run of a closure that runs again afterwards.
    if error.code == .mapFull || error.code == .brokenTransaction { throw error }
    guard case .failure(let refusal as StoreModel.Refusal) = wanted else {
      throw Disagreement("\(what): throws \(error), the model gives \(wanted)")
    }
    let isRight =
      switch refusal {
      case .noSuchRecord: error.code == .noSuchRecord
      case .missingValue: error.code == .unstorableValue
      case .held(let holders):
        error.code == .uniqueViolation && error.entity == "Item"
          && (holders.isEmpty || error.recordID.map { holders.contains($0) } ?? true)
      }
    if !isRight { throw Disagreement("\(what): wrong refusal \(error), the model: \(refusal)") }
  }

  func expectEqual<V: Equatable>(_ what: String, _ found: V, _ expected: V) throws {
    if found != expected { throw Disagreement("\(what): gives \(found), the model \(expected)") }
  }
}

/// The error that store and model differ.
struct Disagreement: Error, CustomStringConvertible {
  let description: String

  init(_ what: String) { description = "\(what); \(SeededNumbers.replay)" }
}
