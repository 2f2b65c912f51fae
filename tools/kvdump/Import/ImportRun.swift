import EntityStore
import LodestoreFormat

/// Writes pages into an entity, one transaction a page, while the next page is read.
struct ImportRun: Sendable {
  let core: StoreCore
  let entity: String
  /// The attributes of the unique index that records are matched by; nil inserts every record.
  let key: Set<UInt32>?
  let conflict: JSONConflict
  let names: [String: String]
  /// Stop at the first reject, and keep nothing of its page.
  let isStrict: Bool

  /// A page with a reject, under `isStrict`: thrown so that its transaction is taken back.
  fileprivate struct Stopped: Error {
    let reject: ImportTally.Reject
  }

  /// What came of an import, also of one that did not get to the end.
  struct Result {
    var tally = ImportTally()
    /// Why it ended early; the tally has what was kept until then.
    var failure: (any Error)?
    /// Whether `isStrict` ended it.
    var isStopped = false
  }

  /// Imports all pages.
  ///
  /// Never throws: what was kept is to be reported in any case.
  func run(_ pages: PageReader, progress: (ImportTally) -> Void) async -> Result {
    var result = Result()
    // One page is written while the next is read and parsed: two in memory.
    var writing: Task<ImportTally, any Error>?
    do {
      while let page = try pages.next() {
        if let tally = try await writing?.value { result.tally.add(tally) }
        writing = nil
        progress(result.tally)
        writing = Task { try await core.environment.writer.run { try write(page) } }
      }
      if let tally = try await writing?.value { result.tally.add(tally) }
    } catch {
      result.end(error)
      // The page before one that could not be read is whole.
      if error is CommandFailure {
        do {
          if let tally = try await writing?.value { result.tally.add(tally) }
        } catch {
          result.end(error)
        }
      }
    }
    return result
  }

  private func write(_ page: ImportPage) throws -> ImportTally {
    try core.write { core in
      let entity = try core.entity(named: entity)
      let index = entity.indexes.first {
        $0.isUnique && Set($0.description.attributes) == key
      }
      let encoder = JSONRecordEncoder(entity, names: names, isStrict: isStrict)
      let merge = JSONPageMerge(
        into: entity, matching: index, mode: conflict, encoder: encoder, core: core)
      var tally = ImportTally()
      tally.pages = 1
      for (place, outcome) in try merge.apply(page.records).enumerated() {
        tally.count(outcome, page: page, record: place + 1)
      }
      tally.unknownMembers = encoder.unknownMembers
      if isStrict, let reject = tally.rejects.first { throw Stopped(reject: reject) }
      return tally
    }
  }
}

extension ImportRun.Result {
  fileprivate mutating func end(_ error: any Error) {
    if let stopped = error as? ImportRun.Stopped {
      isStopped = true
      tally.rejected += 1
      tally.rejects.append(stopped.reject)
    } else {
      failure = error
    }
  }
}
