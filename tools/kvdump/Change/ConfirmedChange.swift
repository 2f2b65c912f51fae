import ArgumentParser
import EntityStore

/// A change of the records that a request finds: counts them, asks the user, and changes them in
/// one transaction.
struct ConfirmedChange {
  /// The words for the change in questions and reports, such as "Delete" and "deleted".
  struct Verb {
    let question: String
    let participle: String
  }

  let verb: Verb
  let entityName: String
  let store: String
  let options: ChangeOptions
  let console: Console

  /// Counts the records, asks if there is somebody to ask, changes the records, and reports.
  ///
  /// The store is closed while the user decides. If the number of records has changed afterwards,
  /// nothing is done.
  ///
  /// - Parameter prepare: Checks the arguments against the schema: before the question, and again
  ///   in the transaction, which may run it more than once. Returns the request, and a function
  ///   that makes the change and returns the number of changed records.
  /// - Returns: `negative` if the answer is no.
  func run(
    _ prepare: (DynamicSnapshot, DynamicEntity) throws -> (
      request: QueryRequest, apply: (DynamicTransaction) throws -> Int
    )
  ) throws -> ExitStatus {
    if !options.yes, !options.dryRun, !console.canAsk { throw CommandFailure.nobodyToAsk(verb) }
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
        let (request, apply) = try prepare(snapshot, entity)
        var counts = try tally(snapshot, entity, request)
        if let asked, asked.found != counts.found {
          throw CommandFailure.changedWhileAsking(
            entityName, store, asked: asked.found, found: counts.found)
        }
        if options.dryRun {
          // A dry run makes the change too, so that it reports a change that would be refused.
          if counts.found > 0 { _ = try apply(transaction) }
          throw Rehearsed(counts: counts)
        }
        let changed = try apply(transaction)
        counts.records = try snapshot.count(of: entity)
        return (counts, changed)
      }
      return try report(counts, changed: changed)
    } catch let rehearsed as Rehearsed {
      return try report(rehearsed.counts, changed: 0)
    }
  }

  /// Thrown to undo a write.
  private struct Rehearsed: Error {
    var counts: Counts
  }

  private struct Counts {
    /// The number of records that the request finds.
    var found: Int
    /// The number of records of the entity.
    var records: Int
  }

  private func tally(
    _ snapshot: DynamicSnapshot, _ entity: DynamicEntity, _ request: QueryRequest
  ) throws -> Counts {
    let query = try snapshot.query(request, of: entity)
    return try console.withProgress { progress in
      Counts(
        found: try query.count(control: progress?.control), records: try snapshot.count(of: entity))
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
