internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The state of an import as of its last commit; see Format.md, "Imports".
struct ImportState: Sendable, Codable {
  var report = ImportReport()
  /// Links whose targets have not been found yet.
  var pendingLinks: [PendingLink]?
  /// Records of the imported entity that links have created and that no page has contained yet.
  var madeRecords: [UInt64]?
  /// The number of imported pages.
  var pages = 0
  /// The source's next position.
  ///
  /// Nil before the first page, at the end, and for a source without positions.
  var position: String?
  /// Whether the source reported that there are no more pages.
  var isAtEnd = false
  /// A checksum of all pages that are bytes, by which a resumed import recognizes the same pages.
  var digest: UInt32 = 0
  /// The number of records rejected before their keys were known.
  ///
  /// Such a rejected record may have the key of any stored record. So a mirror with such rejects
  /// deletes no stored record.
  ///
  /// Nil when an older version began the import, which counted all rejects together.
  var unkeyedRejects: Int? = 0
}

extension ImportState {
  fileprivate var counts: [Int] { [pages, unkeyedRejects ?? 0] }
}

extension ImportReport {
  fileprivate var counts: [Int] {
    [
      pages, unchangedPages, inserted, updated, unchanged, ignored, deleted, rejected, bytes,
      commits,
      resumptions, Int(clamping: run),
    ] + unknownMembers.values
      + (links.map { [$0.added, $0.removed, $0.made, $0.unresolved] } ?? [])
  }
}

/// The facts that the store remembers about an imported page and its records.
struct RememberedPage: Sendable, Codable {
  var page: PageMemory
  /// The ids of the page's records, for a mirror only.
  var ids: [UInt64]?
  /// The ``ImportBasis/epoch`` in which the page was remembered; nil in files of older versions.
  var epoch: UInt64?
  /// For each link of the import, the records to which the page's records are linked; nil without
  /// links.
  var links: [RememberedLinks]?
}

/// Reads and writes the stored state of the imports with one name.
struct ImportLog {
  static let keptReports = 100

  let name: String
  let core: TransactionCore

  init(_ name: String, _ core: TransactionCore) throws(StoreError) {
    guard (1...ImportKey.longestName).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw StoreError(
        .importStopped,
        "cannot import as '\(name)': the name has \(name.utf8.count) bytes; 1 to "
          + "\(ImportKey.longestName) without a zero byte are allowed")
    }
    self.name = name
    self.core = core
  }

  func state() throws(StoreError) -> ImportState? {
    let state: ImportState? = try value(.state)
    if let state, !Self.areCounts(state.counts + state.report.counts) { throw damagedCounts }
    return state
  }

  /// The limit on each count of a stored report, so that additions never overflow; see Format.md,
  /// "Imports".
  private static let countLimit = 1 << 56

  private static func areCounts(_ counts: [Int]) -> Bool {
    counts.allSatisfy { (0..<countLimit).contains($0) }
  }

  private var damagedCounts: StoreError {
    StoreError(
      .damaged,
      "cannot read the stored data of the import '\(name)': a count is negative or too high; run "
        + "'kvdump verify'")
  }

  /// Throws when a count has reached the limit, because the written value could not be read again.
  ///
  /// The count may come from a file that already stores a count at the limit.
  private func checkLimit(_ counts: [Int]) throws(StoreError) {
    if Self.areCounts(counts) { return }
    throw StoreError(
      .importStopped,
      "cannot continue the import '\(name)': one of its counts is at the limit of 2^56; import under "
        + "another name")
  }

  /// The number of the next run.
  func nextRun() throws(StoreError) -> UInt64 {
    let run = (try reports().last?.run ?? 0) + 1
    try checkLimit([Int(clamping: run)])
    return run
  }

  func put(_ state: ImportState) throws(StoreError) {
    try checkLimit(state.counts + state.report.counts)
    var state = state
    state.report = state.report.stored
    try put(state, .state)
  }

  // MARK: Pages

  func memory(of page: String) throws(StoreError) -> RememberedPage? {
    let found: RememberedPage? = try value(.memory(SHA256.hash(page.utf8)))
    return found?.page.name == page ? found : nil
  }

  func remember(_ page: RememberedPage) throws(StoreError) {
    try put(page, .memory(SHA256.hash(page.page.name.utf8)))
  }

  func basis() throws(StoreError) -> ImportBasis? { try value(.basis) }

  func put(_ basis: ImportBasis) throws(StoreError) { try put(basis, .basis) }

  func putSeen(_ ids: [UInt64], page: Int) throws(StoreError) {
    try put(ids, .seen(page: UInt64(page)))
  }

  /// The ids of all records that the mirror has seen, in ascending order, and the number of their
  /// pages.
  func seenIDs() throws(StoreError) -> (ids: [UInt64], pageCount: Int) {
    var ids: [UInt64] = []
    var pageCount = 0
    try forEach { (key, body) throws(StoreError) in
      guard case .seen = key else { return }
      ids += try Self.decode([UInt64].self, body)
      pageCount += 1
    }
    IDSort.sort(&ids)
    return (ids, pageCount)
  }

  func forget() throws(StoreError) {
    try delete { if case .memory = $0 { true } else { false } }
  }

  /// Removes the remembered pages that contained a record with one of `ids`.
  func forgetPages(with ids: Set<UInt64>) throws(StoreError) {
    var gone: Set<ImportKey> = []
    try forEach { (key, body) throws(StoreError) in
      guard case .memory = key else { return }
      let page = try Self.decode(RememberedPage.self, body)
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
      case .report(let run): run <= report.run && report.run - run >= UInt64(Self.keptReports)
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

  /// The reports of the completed runs, oldest first, followed by the open run's report.
  func reports() throws(StoreError) -> [ImportReport] {
    var reports: [ImportReport] = []
    var open: ImportReport?
    try forEach { (key, body) throws(StoreError) in
      switch key {
      case .report: reports.append(try Self.decode(ImportReport.self, body))
      case .state: open = try Self.decode(ImportState.self, body).report
      case .memory, .seen, .basis: break
      }
    }
    reports += open.map { [$0] } ?? []
    for report in reports where !Self.areCounts(report.counts) { throw damagedCounts }
    return reports
  }

  /// The names of all imports.
  static func names(_ core: TransactionCore) throws(StoreError) -> [String] {
    try wrappingErrors {
      try core.transaction.leadingNames(of: core.store.trees.imports) { key in
        guard let name = ImportKey.split(key)?.name else {
          throw FormatError("a key of the tree 'imports' is unknown to this version")
        }
        return name
      }
    }
  }

  // MARK: Pairs

  private func value<V: Decodable>(_ key: ImportKey) throws(StoreError) -> V? {
    let key = key.bytes(name: name)
    return try wrappingErrors {
      guard let body = try core.transaction.get(key, in: core.store.trees.imports) else {
        return nil
      }
      return try key._withBytes { key in
        try Self.decode(V.self, try Checksum.unsealed(key: key, body: body))
      }
    }
  }

  private static func decode<V: Decodable>(_: V.Type, _ content: ByteView) throws(StoreError) -> V {
    do {
      return try DocumentCoding.decode(V.self, from: content)
    } catch {
      throw StoreError(
        .damaged, "cannot read the stored data of an import; run 'kvdump verify'", cause: error)
    }
  }

  private func put(_ value: some Encodable, _ key: ImportKey) throws(StoreError) {
    let key = key.bytes(name: name)
    try wrappingErrors {
      var document = DocumentWriter()
      try DocumentCoding.encode(value, into: &document)
      try core.transaction.put(
        key, Checksum.sealed(key: key, content: document.bytes), in: core.store.trees.imports)
    }
  }

  private func forEach(
    _ body: (ImportKey, ByteView) throws(StoreError) -> Void
  ) throws(StoreError) {
    try wrappingErrors {
      let cursor = try Cursor(core.store.trees.imports, in: core.transaction)
      try cursor.walk(.prefix(ImportKey.prefix(name: name))) { key, value in
        guard let (_, known) = ImportKey.split(key) else { return true }
        try body(known, try Checksum.unsealed(key: key, body: value))
        return true
      }
    }
  }

  private func delete(where isGone: (ImportKey) -> Bool) throws(StoreError) {
    var gone: [[UInt8]] = []
    try forEach { (key, _) throws(StoreError) in
      if isGone(key) { gone.append(key.bytes(name: name)) }
    }
    try wrappingErrors {
      for key in gone { try core.transaction.delete(key, in: core.store.trees.imports) }
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
