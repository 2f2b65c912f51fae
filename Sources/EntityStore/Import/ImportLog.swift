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
  var counts: [Int] { [pages, unkeyedRejects ?? 0] }
}

extension ImportReport {
  var counts: [Int] {
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

/// Reads the stored state of the imports with one name.
///
/// ``WritableImportLog`` also writes it.
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

  static func areCounts(_ counts: [Int]) -> Bool {
    counts.allSatisfy { (0..<countLimit).contains($0) }
  }

  private var damagedCounts: StoreError {
    StoreError(
      .damaged,
      "cannot read the stored data of the import '\(name)': a count is negative or too high; run "
        + "'kvdump verify'")
  }

  // MARK: Pages

  func memory(of page: String) throws(StoreError) -> RememberedPage? {
    let found: RememberedPage? = try value(.memory(SHA256.hash(page.utf8)))
    return found?.page.name == page ? found : nil
  }

  func basis() throws(StoreError) -> ImportBasis? { try value(.basis) }

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

  static func decode<V: Decodable>(_: V.Type, _ content: ByteView) throws(StoreError) -> V {
    do {
      return try DocumentCoding.decode(V.self, from: content)
    } catch {
      throw StoreError(
        .damaged, "cannot read the stored data of an import; run 'kvdump verify'", cause: error)
    }
  }

  func forEach(
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
}
