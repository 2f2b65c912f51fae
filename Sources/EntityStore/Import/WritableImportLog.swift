internal import LMDB
internal import LodestoreFormat

/// Writes of the state of an import, whose reads are those of an ``ImportLog``.
struct WritableImportLog {
  /// The log within this write, for reads.
  let reads: ImportLog
  let core: WriteCore
  private var name: String { reads.name }

  init(_ name: String, _ core: WriteCore) throws(StoreError) {
    reads = try ImportLog(name, core)
    self.core = core
  }

  /// Throws when a count has reached the limit, because the written value could not be read again.
  ///
  /// The count may come from a file that already stores a count at the limit.
  private func checkLimit(_ counts: [Int]) throws(StoreError) {
    if ImportLog.areCounts(counts) { return }
    throw StoreError(
      .importStopped,
      "cannot continue the import '\(name)': one of its counts is at the limit of 2^56; import "
        + "under another name")
  }

  /// The number of the next run.
  func nextRun() throws(StoreError) -> UInt64 {
    let run = (try reads.reports().last?.run ?? 0) + 1
    try checkLimit([Int(clamping: run)])
    return run
  }

  func put(_ state: ImportState) throws(StoreError) {
    try checkLimit(state.counts + state.report.counts)
    var state = state
    state.report = state.report.stored
    try put(state, .state)
  }

  func remember(_ page: RememberedPage) throws(StoreError) {
    try put(page, .memory(SHA256.hash(page.page.name.utf8)))
  }

  func put(_ basis: ImportBasis) throws(StoreError) { try put(basis, .basis) }

  func putSeen(_ ids: [UInt64], page: Int) throws(StoreError) {
    try put(ids, .seen(page: UInt64(page)))
  }

  func forget() throws(StoreError) {
    try delete { if case .memory = $0 { true } else { false } }
  }

  /// Removes the remembered pages that contained a record with one of `ids`.
  func forgetPages(with ids: Set<UInt64>) throws(StoreError) {
    var gone: Set<ImportKey> = []
    try reads.forEach { (key, body) throws(StoreError) in
      guard case .memory = key else { return }
      let page = try ImportLog.decode(RememberedPage.self, body)
      if page.ids?.contains(where: ids.contains) ?? false { gone.insert(key) }
    }
    try delete { gone.contains($0) }
  }

  // MARK: Ending a run

  /// Ends the open run: stores its report and removes its state.
  func end(_ report: ImportReport) throws(StoreError) {
    try checkLimit(report.counts)
    try put(report.stored, .report(run: report.run))
    try delete { key in
      switch key {
      case .state, .seen: true
      case .report(let run): run <= report.run && report.run - run >= UInt64(ImportLog.keptReports)
      case .memory, .basis: false
      }
    }
  }

  /// Removes the state of a run that is not resumed.
  func clear() throws(StoreError) {
    try delete { key in
      switch key {
      case .state, .seen: true
      case .report, .memory, .basis: false
      }
    }
  }

  // MARK: Pairs

  private func put(_ value: some Encodable, _ key: ImportKey) throws(StoreError) {
    let key = key.bytes(name: name)
    try wrappingErrors {
      var document = DocumentWriter()
      try DocumentCoding.encode(value, into: &document)
      try core.writing.put(
        key, Checksum.sealed(key: key, content: document.bytes), in: core.store.trees.imports)
    }
  }

  private func delete(where isGone: (ImportKey) -> Bool) throws(StoreError) {
    var gone: [[UInt8]] = []
    try reads.forEach { (key, _) throws(StoreError) in
      if isGone(key) { gone.append(key.bytes(name: name)) }
    }
    try wrappingErrors {
      for key in gone { try core.writing.delete(key, in: core.store.trees.imports) }
    }
  }
}

extension ImportReport {
  /// The report with only as many rejects as the store keeps.
  fileprivate var stored: ImportReport {
    var report = self
    if rejects.count > Self.longestStoredRejectList {
      report.rejects.removeSubrange(Self.longestStoredRejectList...)
    }
    for at in report.rejects.indices { report.rejects[at].content = nil }
    if let links, links.unresolvedKeys.count > Links.longestStoredList {
      report.links?.unresolvedKeys.removeSubrange(Links.longestStoredList...)
    }
    return report
  }
}
