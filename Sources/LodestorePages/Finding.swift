import LodestoreBytes
package import LodestoreFormat

/// One violation of a rule: its place, the fact found and the fact expected.
package struct Finding: Equatable, Sendable {
  /// The kinds of faults.
  ///
  /// The raw values are part of the JSON contract.
  package enum Code: String, CaseIterable, Sendable {
    // The LMDB file.
    case truncated, meta, page, pageOrder = "page-order", pageShared = "page-shared"
    case pageUnaccounted = "page-unaccounted", overflow, treeCount = "tree-count"
    case treeFlags = "tree-flags", freeList = "free-list"
    /// LMDB itself returned an error.
    case engine
    // The store's own trees.
    case header, treeMissing = "tree-missing", treeForeign = "tree-foreign", catalogue
    case entityName = "entity-name", counter, bucket, imports, history
    // Records.
    case recordKey = "record-key", recordLayout = "record-layout", recordShape = "record-shape"
    case recordContent = "record-content", recordRequired = "record-required"
    // Indexes.
    case entryMissing = "entry-missing", entryStale = "entry-stale"
    case entryWithoutRecord = "entry-without-record", entryBody = "entry-body"
    case entryKey = "entry-key", uniqueness, indexNotEmpty = "index-not-empty"
    case indexCount = "index-count"
    // Relationships.
    case linkMissing = "link-missing", linkDangling = "link-dangling"
    case linkOrder = "link-order"
    // Derived attributes.
    case derivedValue = "derived-value"
    // The content as a whole.
    case digest
    case catalogueCopy = "catalogue-copy"
    // Sealed files.
    case seal
  }

  package var code: Code
  /// The violated rule of Format.md.
  package var rule: FormatRule
  /// The tree's name in the file.
  package var tree: String?
  /// The entity, such as `Film`, or the index, such as `Film.episodeId`.
  package var subject: String?
  package var record: UInt64?
  /// The key of the pair, unless the pair is a record, which ``record`` names.
  package var key: [UInt8]?
  /// The fact found and the fact expected, in one line.
  package var detail: String

  /// - Parameter rule: The violated rule; by default the usual rule for `code`.
  package init(
    _ code: Code, _ rule: FormatRule? = nil, tree: String? = nil, subject: String? = nil,
    record: UInt64? = nil,
    key: ByteView? = nil, _ detail: String
  ) {
    self.code = code
    self.rule = rule ?? code.rule
    self.tree = tree
    self.subject = subject
    self.record = record
    // A damaged file can have keys of any length. No valid key is longer.
    self.key = key.map { Array($0.prefix(511)) }
    self.detail = detail
  }
}

extension Finding {
  /// Makes a finding about the file as a whole.
  package init(_ code: Code, _ detail: String) { self.init(code, nil, detail) }
}

extension Finding.Code {
  /// The rule that faults of this kind violate unless the finding names another one.
  var rule: FormatRule {
    switch self {
    case .truncated: .lmdbFileLength
    case .meta: .lmdbMeta
    case .page, .engine: .lmdbPage
    case .pageOrder: .lmdbKeyOrder
    case .pageShared: .lmdbPageOnce
    case .pageUnaccounted: .lmdbPageAccounted
    case .overflow: .lmdbOverflow
    case .treeCount: .lmdbTreeRecord
    case .treeFlags: .treeFlags
    case .freeList: .lmdbFreeList
    case .header: .headerFields
    case .treeMissing: .treeThere
    case .treeForeign, .indexNotEmpty: .treeGivenUp
    case .catalogue: .catalogueMembers
    case .entityName: .catalogueEntityNameOnce
    case .counter: .counterKey
    case .bucket: .bucketKey
    case .imports: .importKey
    case .history: .historyKey
    case .recordKey: .recordID
    case .recordLayout: .recordLayout
    case .recordShape: .recordLength
    case .recordContent: .recordChecksum
    case .recordRequired: .recordRequired
    case .entryMissing, .indexCount: .indexEntryThere
    case .entryStale: .indexEntryCurrent
    case .entryWithoutRecord: .indexEntryRecord
    case .entryBody: .indexBody
    case .entryKey: .indexKey
    case .uniqueness: .indexUnique
    case .linkMissing: .linkBothSides
    case .linkDangling: .linkRecords
    case .linkOrder: .linkOrder
    case .derivedValue: .derivedValue
    case .digest: .digestContent
    case .catalogueCopy: .catalogueCopy
    case .seal: .sealMembers
    }
  }
}

extension Finding: CustomStringConvertible {
  /// The finding in one line, such as
  /// `entry-missing: Film.episodeId (index.1.1), record 3, key 1337: the record has no entry [index.entry-there]`.
  package var description: String {
    var location = subject ?? tree ?? ""
    if subject != nil, let tree { location += " (\(tree))" }
    if let record { location += (location.isEmpty ? "" : ", ") + "record \(record)" }
    if let key { location += (location.isEmpty ? "" : ", ") + "key \(Self.hexadecimal(key))" }
    return code.rawValue + ": " + (location.isEmpty ? "" : location + ": ") + detail
      + " [\(rule.rawValue)]"
  }

  /// Two digits for each byte, without spaces, in the form that the command `keys` accepts.
  package static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }
}

/// Findings in the order of their discovery.
///
/// All findings are counted, but only the first findings are stored.
package struct FindingList: Sendable {
  package private(set) var kept: [Finding] = []
  package private(set) var count = 0
  private let limit: Int

  /// - Parameter limit: The maximum number of stored findings; 0 stores all.
  package init(limit: Int) { self.limit = limit }

  package mutating func add(_ finding: @autoclosure () -> Finding) {
    count += 1
    if limit == 0 || kept.count < limit { kept.append(finding()) }
  }

  /// Adds a finding about the whole file.
  mutating func add(_ code: Finding.Code, _ detail: @autoclosure () -> String) {
    add(Finding(code, detail()))
  }

  /// Adds a finding, whose text is made only if the list keeps it.
  package mutating func add(
    _ code: Finding.Code, _ rule: FormatRule? = nil, tree: String? = nil, subject: String? = nil,
    record: UInt64? = nil, key: ByteView? = nil, _ detail: @autoclosure () -> String
  ) {
    add(Finding(code, rule, tree: tree, subject: subject, record: record, key: key, detail()))
  }
}
