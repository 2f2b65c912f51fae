internal import LMDB
internal import LodestoreFormat

extension ImportEngine {
  /// What a group's transaction did.
  struct WriteResult: Sendable {
    var state: ImportState
    var rejects: [ImportReport.Reject] = []
    /// Why the import ends after these pages.
    var stop: StoreError?
  }

  /// Thrown to abort the transaction: a page has more rejects than are allowed.
  private struct TooManyRejects: Error {
    var page: Int
    /// The rejects of the page, up to the first one too many.
    var rejects: [ImportReport.Reject]
    var last: ImportReport.Reject
  }

  /// Writes a group's pages, and how far the import is, in one transaction.
  ///
  /// On the writer's thread.
  func write(_ group: ImportGroup, after state: ImportState) throws -> WriteResult {
    do {
      return try write(group.pages[...], after: state)
    } catch let excess as TooManyRejects {
      // Pages before the one with too many rejects are committed.
      var result = WriteResult(state: state)
      if excess.page > 0 { result = try write(group.pages[..<excess.page], after: state) }
      result.rejects += excess.rejects
      result.stop = .tooManyRejects(excess.last, limit: options.rejectLimit)
      return result
    }
  }

  private func write(
    _ pages: ArraySlice<DecodedPage>, after state: ImportState
  ) throws -> WriteResult {
    let start = ContinuousClock.now
    var result = try core.write(origin: origin) { core in
      let log = try ImportLog(name, core)
      let stored = try log.state()
      guard let stored, stored.report.run == state.report.run, stored.pages == state.pages else {
        throw StoreError.anotherImport(name)
      }
      var result = WriteResult(state: state)
      let remembers = pages.contains { $0.memory != nil && !$0.isUnchanged }
      try keepingBasis(core, log, remembers: remembers) { epoch in
        try merge(pages, core, log, epoch, &result)
      }
      result.state.report.commits += 1
      try log.put(result.state)
      return result
    }
    result.state.report.writingSeconds += (ContinuousClock.now - start).inSeconds
    return result
  }

  private func merge(
    _ pages: ArraySlice<DecodedPage>, _ core: TransactionCore, _ log: ImportLog, _ epoch: UInt64,
    _ result: inout WriteResult
  ) throws {
    let entity = try self.entity(core)
    var batch = IncomingRecords(entity.layout)
    var ends: [Int] = []
    for page in pages {
      if page.batch.layout.number == entity.layout.number {
        batch.append(page.batch)
      } else {
        try batch.append(page.batch, carriedOverTo: entity, core)
      }
      ends.append(batch.count)
    }
    let index = try self.index(of: entity)
    try resolveBefore(pages, ends, &batch, entity, core, &result.state.report)
    let writing = try BatchMerge(
      batch, into: entity, matching: index.map { [$0] } ?? [], rule: rule,
      pageEnds: rule.takesLastOfPage ? ends : [], core: core)
    writing.tally = linkTally(of: entity, core)
    let outcomes = try writing.apply()
    if let links = writing.tally?.total { count(links, in: &result.state.report) }
    var links = RememberedLinks.ByPage(
      pages.filter { $0.memory != nil && !$0.isUnchanged }.map(\.number),
      linkCount: self.links.count)
    try resolveAfter(pages, ends, outcomes, entity, core, &result.state, &links)
    if entity.description.history != nil {
      core.steps = try steps(pages, ends, outcomes, entity)
    }
    for (number, page) in pages.enumerated() {
      let start = number == 0 ? 0 : ends[number - 1]
      try count(page, outcomes[start..<ends[number]], &result)
      let limit = max(0, options.rejectLimit)
      if result.state.report.rejected > limit, let last = result.rejects.last {
        let rejects = result.rejects.filter { $0.page == last.page }
        throw TooManyRejects(page: number, rejects: rejects, last: last)
      }
      var seen: [UInt64] = []
      if strategy == .mirror {
        seen = try (start..<ends[number]).compactMap { row in
          try (try? outcomes[row].id()) ?? holder(of: batch, row, index, entity, core)
        }
      }
      // Records for another schema have to be encoded again.
      let isCurrent = page.batch.layout.number == entity.layout.number
      try note(page, seen, links[page.number], log, isCurrent ? epoch : nil, &result.state)
    }
  }

  /// The records of each page: the history tells a page as a write of its own.
  ///
  /// A record of several pages is the last one's, whose values it has.
  private func steps(
    _ pages: ArraySlice<DecodedPage>, _ ends: [Int], _ outcomes: [BatchMerge.Outcome],
    _ entity: StoredEntity
  ) throws -> [WriteStep] {
    var taken = IDRuns()
    var steps: [WriteStep] = []
    for (number, page) in pages.enumerated().reversed() {
      var ids = IDRuns()
      for row in (number == 0 ? 0 : ends[number - 1])..<ends[number] {
        if let id = try? outcomes[row].id() { ids.append(id) }
      }
      ids.normalize()
      ids = ids.subtracting(taken)
      taken = IDRuns(taken.ranges + ids.ranges)
      steps.append(WriteStep(entity: entity.number, ids: ids, context: "page \(page.number)"))
    }
    return steps.reversed()
  }

  private func count(
    _ page: DecodedPage, _ outcomes: ArraySlice<BatchMerge.Outcome>, _ result: inout WriteResult
  ) throws {
    var rejects = page.rejects
    for (origin, outcome) in zip(page.origins, outcomes) {
      switch outcome {
      case .inserted: result.state.report.inserted += 1
      case .updated: result.state.report.updated += 1
      case .unchanged: result.state.report.unchanged += 1
      case .ignored: result.state.report.ignored += 1
      case .rejected(let error):
        rejects.append(page.reject(of: origin, attribute: error.attribute, reason: error.message))
      }
    }
    // The other rejects have keys, and the stored records with these keys were seen.
    if let unkeyed = result.state.unkeyedRejects {
      result.state.unkeyedRejects = unkeyed + page.rejects.count
    }
    rejects.sort { $0.record < $1.record }
    // The first reject too many is the last that is reported.
    let room = max(0, max(0, options.rejectLimit) - result.state.report.rejected)
    if rejects.count > room { rejects.removeSubrange((room + 1)...) }
    for reject in rejects { result.state.report.reject(reject) }
    result.rejects += rejects
    result.state.report.count(unknownMembers: page.unknownMembers)
    for warning in page.warnings { result.state.report.warn(warning, file: page.file) }
    result.state.report.bytes += page.byteCount
    result.state.report.pages += 1
    if page.isUnchanged { result.state.report.unchangedPages += 1 }
  }

  /// The stored record with the key of a rejected one; it counts as seen in a mirror.
  private func holder(
    of batch: IncomingRecords, _ row: Int, _ index: StoredIndex?, _ entity: StoredEntity,
    _ core: TransactionCore
  ) throws(StoreError) -> UInt64? {
    guard let index else { return nil }
    return try batch.withRecord(row) { (record) throws(StoreError) in
      let view = try entity.view(record, id: 0)
      let hasNull = try core.encodeKey(of: view, id: 0, in: index, of: entity)
      return hasNull ? nil : try core.holder(of: core.key.bytes, in: index)
    }
  }

  /// Notes how far the import is, what is to be remembered of the page, and what a mirror has seen.
  private func note(
    _ page: DecodedPage, _ seen: [UInt64], _ links: [RememberedLinks]?, _ log: ImportLog,
    _ epoch: UInt64?, _ state: inout ImportState
  ) throws {
    state.pages = page.number
    state.position = page.next
    state.isAtEnd = page.isFromSource && page.next == nil
    state.digest = page.digest
    var ids: [UInt64]?
    if strategy == .mirror {
      let seen =
        page.isUnchanged
        ? try page.memory.flatMap { try log.memory(of: $0.name)?.ids } ?? [] : seen
      try log.putSeen(seen, page: page.number)
      // A page with unknown records must be read again, so it is not remembered.
      ids = page.rejects.isEmpty ? seen : nil
    }
    if let memory = page.memory, !page.isUnchanged {
      try log.remember(RememberedPage(page: memory, ids: ids, epoch: epoch, links: links))
    }
  }

  // MARK: Ending

  /// Ends the import: a mirror deletes what it has not seen; the report is kept.
  func end(_ state: ImportState) throws -> ImportReport {
    try core.write(origin: origin) { core in
      let log = try ImportLog(name, core)
      guard let stored = try log.state(), stored.report.run == state.report.run,
        stored.pages == state.pages
      else { throw StoreError.anotherImport(name) }
      var state = state
      if state.pendingLinks?.isEmpty == false {
        try keepingBasis(core, log, remembers: false) { _ in try resolvePending(&state, core) }
      }
      var report = state.report
      if strategy == .mirror {
        let mayDelete =
          options.deletesDespiteRejects || (state.unkeyedRejects ?? report.rejected) == 0
        try keepingBasis(core, log, remembers: false) { _ in
          try deleteUnseen(log, core, &report, mayDelete, pages: state.pages)
        }
      }
      report.ending = .finished
      try log.end(report)
      return report
    }
  }

  private func deleteUnseen(
    _ log: ImportLog, _ core: TransactionCore, _ report: inout ImportReport, _ mayDelete: Bool,
    pages: Int
  ) throws {
    if !mayDelete {
      report.keptUnseen = true
      return
    }
    let entity = try self.entity(core)
    let (seen, pageCount) = try log.seenIDs()
    // In a file that was salvaged, what a page has brought may be lost.
    guard pageCount == pages else { throw StoreError.lostPages(name, pages - pageCount, of: pages) }
    var unseen: [UInt64] = []
    let cursor = try Cursor(entity.records, in: core.transaction)
    var position = 0
    var found = try cursor.first()
    while found {
      let id = cursor.integerKey
      while position < seen.count, seen[position] < id { position += 1 }
      if position == seen.count || seen[position] != id { unseen.append(id) }
      found = try cursor.next()
    }
    if seen.isEmpty, !unseen.isEmpty, !options.mirrorsEmptySources {
      report.keptUnseen = true
      return
    }
    report.deleted = try core.delete(unseen, of: entity)
    // The pages of deleted records must be read again, even if unchanged.
    if !unseen.isEmpty { try log.forgetPages(with: Set(unseen)) }
  }

  /// Notes an error in the report of the import, which can be resumed.
  func note(_ state: ImportState) throws {
    try core.write(origin: origin) { core in
      let log = try ImportLog(name, core)
      guard let stored = try log.state(), stored.report.run == state.report.run,
        stored.pages == state.pages
      else { return }
      try log.put(state)
    }
  }
}

extension MergeRule {
  /// Whether the last of the records of a page with one key is taken, so that the same page again
  /// changes nothing; otherwise they are merged one after another.
  fileprivate var takesLastOfPage: Bool {
    switch self {
    case .patch, .patchGiven, .closure: false
    case .fail, .ignore, .replace, .renew: true
    case .policy(let policies): !policies.takesParts
    }
  }
}

extension IncomingRecords {
  /// Adds the records of `other`, whose layout is older, in the layout of `entity`.
  fileprivate mutating func append(
    _ other: IncomingRecords, carriedOverTo entity: StoredEntity, _ core: TransactionCore
  ) throws(StoreError) {
    for row in 0..<other.count {
      let isGiven = entity.layout.attributes.map { attribute in
        other.layout.slotIndex(ofAttribute: attribute.number)
          .map { other.isGiven($0, at: row) } ?? false
      }
      let record = try other.withRecord(row) { (bytes) throws(StoreError) in
        try core.carriedOver(try entity.view(bytes, id: 0), id: 0, of: entity)
      }
      record.withUnsafeBytes { bytes in
        append(
          UnsafeRawBufferPointer(rebasing: bytes.dropLast(RecordLayout.checksumSize)),
          given: isGiven)
      }
    }
  }
}

extension StoreError {
  fileprivate static func anotherImport(_ name: String) -> StoreError {
    StoreError(
      .importStopped,
      "cannot go on with import '\(name)': another one of this name has begun; give each its name")
  }

  fileprivate static func lostPages(_ name: String, _ count: Int, of total: Int) -> StoreError {
    StoreError(
      .importStopped,
      "cannot end mirror '\(name)': the file has lost what \(count) of its \(total) pages had, and "
        + "so does not know what to delete; run it again without going on")
  }

  fileprivate static func tooManyRejects(
    _ reject: ImportReport.Reject, limit: Int
  ) -> StoreError {
    let what = limit == 0 ? "a record was rejected" : "more than \(limit) records were rejected"
    return StoreError(
      .importStopped,
      "the import ended at page \(reject.page) record \(reject.record): \(what) (\(reject.reason)); "
        + "nothing of this page is kept, earlier pages are", attribute: reject.attribute)
  }
}
