import ArgumentParser
import EntityStore

/// A change of the records that a request finds: counted, asked about, and made in one transaction.
struct RecordChange {
  /// What is to be done, as people are asked and told: "Delete", "deleted".
  struct Verb {
    let question: String
    let participle: String
  }

  private let verb: Verb
  private let entityName: String
  private let store: String
  private let options: ChangeOptions
  private let console: Console

  init(
    verb: Verb, of entityName: String, in store: String, options: ChangeOptions, console: Console
  ) {
    self.verb = verb
    self.entityName = entityName
    self.store = store
    self.options = options
    self.console = console
  }

  /// Counts the records, asks where there is somebody to ask, changes them and reports.
  ///
  /// Nothing is open while a person thinks; if the number of records is another one afterwards,
  /// nothing is done.
  ///
  /// - Parameters:
  ///   - prepare: checks the arguments against the schema, before anybody is asked and once more in
  ///     the transaction, since it may be run again.
  ///   - apply: makes the change and returns how many records it changed.
  /// - Returns: `negative` when the answer is no.
  func run<Prepared>(
    prepare: (DynamicSnapshot, DynamicEntity) throws -> (request: QueryRequest, change: Prepared),
    apply: (DynamicTransaction, DynamicEntity, QueryRequest, Prepared) throws -> Int
  ) throws -> ExitStatus {
    if !options.yes, !options.dryRun, !console.canAsk {
      throw CommandFailure.nobodyToAsk(verb)
    }
    var asked: Counts?
    if !options.yes, !options.dryRun {
      let counts = try ReadStore.read(store, checksRecords: true, on: console) { snapshot in
        let entity = try snapshot.entity(entityName)
        return try tally(snapshot, entity, try prepare(snapshot, entity).request)
      }
      if counts.found == 0 { return try report(counts, changed: 0) }
      guard console.ask(question(counts)) else {
        console.note("nothing was \(verb.participle)")
        return .negative
      }
      asked = counts
    }
    do {
      let (counts, changed) = try WriteStore.write(store) { transaction in
        let snapshot = transaction.snapshot
        let entity = try snapshot.entity(entityName)
        let (request, change) = try prepare(snapshot, entity)
        var counts = try tally(snapshot, entity, request)
        if let asked, asked.found != counts.found {
          throw CommandFailure.changedWhileAsking(
            entityName, store, asked: asked.found, found: counts.found)
        }
        if options.dryRun {
          // Made all the same, so that what would be refused is.
          if counts.found > 0 { _ = try apply(transaction, entity, request, change) }
          throw Rehearsed(counts: counts)
        }
        let changed = try apply(transaction, entity, request, change)
        counts.records = try snapshot.count(of: entity)
        return (counts, changed)
      }
      return try report(counts, changed: changed)
    } catch let rehearsed as Rehearsed {
      return try report(rehearsed.counts, changed: 0)
    }
  }

  /// Takes a write back.
  private struct Rehearsed: Error {
    var counts: Counts
  }

  private struct Counts {
    /// Records that the request finds.
    var found: Int
    /// Records of the entity.
    var records: Int
  }

  private func tally(
    _ snapshot: DynamicSnapshot, _ entity: DynamicEntity, _ request: QueryRequest
  ) throws -> Counts {
    let query = try snapshot.query(request, of: entity)
    return try console.withProgress { progress in
      Counts(
        found: try query.count(control: progress?.control),
        records: try snapshot.count(of: entity))
    }
  }

  private func question(_ counts: Counts) -> String {
    let found = NumberText.grouped(counts.found)
    let records = NumberText.grouped(counts.records)
    return "\(verb.question) \(found) of \(records) records of \(entityName)?"
  }

  private func report(_ counts: Counts, changed: Int) throws -> ExitStatus {
    try console.writeObject([
      ("entity", .text(entityName)), ("found", .count(counts.found)),
      (Column(verb.participle), .count(changed)), ("records", .count(counts.records)),
    ])
    if options.dryRun { console.note("a dry run: nothing was \(verb.participle)") }
    return .success
  }
}
