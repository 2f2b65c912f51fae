import ArgumentParser
import EntityStore

/// A change of the records that a request finds: counted, asked about, and made in one transaction.
struct RecordChange {
  /// What is to be done, as people are asked and told: "Delete", "deleted".
  struct Verb {
    let question: String
    let participle: String
  }

  let verb: Verb
  let store: String
  let options: ChangeOptions
  let console: Console

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
    of entityName: String,
    prepare: (DynamicSnapshot, DynamicEntity) throws -> (request: QueryRequest, change: Prepared),
    apply: (DynamicTransaction, DynamicEntity, QueryRequest, Prepared) throws -> Int
  ) throws -> ExitStatus {
    if !options.yes, !options.dryRun, !console.canAsk {
      throw CommandFailure.nobodyToAsk(verb)
    }
    if options.dryRun {
      try report(entityName, try rehearse(entityName, prepare, apply), changed: 0)
      return .success
    }
    var asked: Counts?
    if !options.yes {
      let counts = try ReadStore.read(store, checksRecords: true, on: console) { snapshot in
        let entity = try snapshot.entity(entityName, in: store)
        return try tally(snapshot, entity, try prepare(snapshot, entity).request)
      }
      if counts.found == 0 {
        try report(entityName, counts, changed: 0)
        return .success
      }
      guard console.ask(question(entityName, counts)) else {
        console.note("nothing was \(verb.participle)")
        return .negative
      }
      asked = counts
    }
    let (before, changed, after) = try WriteStore.write(store) { transaction in
      let snapshot = transaction.snapshot
      let entity = try snapshot.entity(entityName, in: store)
      let (request, change) = try prepare(snapshot, entity)
      let before = try tally(snapshot, entity, request)
      if let asked, asked.found != before.found {
        throw CommandFailure.changedWhileAsking(
          entityName, store, asked: asked.found, found: before.found)
      }
      let changed = try apply(transaction, entity, request, change)
      return (before, changed, try snapshot.count(of: entity))
    }
    try report(entityName, Counts(found: before.found, records: after), changed: changed)
    return .success
  }

  /// Makes the change in a write that is taken back, so that what would be refused is.
  private func rehearse<Prepared>(
    _ entityName: String,
    _ prepare: (DynamicSnapshot, DynamicEntity) throws -> (request: QueryRequest, change: Prepared),
    _ apply: (DynamicTransaction, DynamicEntity, QueryRequest, Prepared) throws -> Int
  ) throws -> Counts {
    do {
      return try WriteStore.write(store) { transaction in
        let snapshot = transaction.snapshot
        let entity = try snapshot.entity(entityName, in: store)
        let (request, change) = try prepare(snapshot, entity)
        let counts = try tally(snapshot, entity, request)
        if counts.found > 0 { _ = try apply(transaction, entity, request, change) }
        throw Rehearsed(counts: counts)
      }
    } catch let rehearsed as Rehearsed {
      return rehearsed.counts
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

  private func question(_ entity: String, _ counts: Counts) -> String {
    let found = NumberText.grouped(counts.found)
    let records = NumberText.grouped(counts.records)
    return "\(verb.question) \(found) of \(records) records of \(entity)?"
  }

  private func report(_ entity: String, _ counts: Counts, changed: Int) throws {
    try console.writeObject([
      (Column("entity"), .text(entity)), (Column("found"), .count(counts.found)),
      (Column(verb.participle), .count(changed)), (Column("records"), .count(counts.records)),
    ])
    if options.dryRun { console.note("a dry run: nothing was \(verb.participle)") }
  }
}
