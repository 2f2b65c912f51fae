public import LodestoreEssentials

/// What an import did.
///
/// It is data: printable, `Codable`, and kept in the store under the import's name.
public struct ImportReport: Sendable, Codable, Hashable {
  /// A record that was not imported.
  public struct Reject: Sendable, Codable, Hashable {
    /// The number of the page, from 1.
    public var page: Int
    /// The number of the record in its page, from 1.
    public var record: Int
    /// The file of the page; `nil` when it did not come from ``FilePages``.
    public var file: String?
    /// The line on which the record begins, from 1; `nil` where that is not known.
    public var line: Int?
    /// Where the record, or what is wrong in it, begins, in bytes: in the text of the file, as
    /// UTF-8 and decompressed, or in the page when that is of no file; `nil` when the page did not
    /// come as bytes.
    public var byteOffset: Int?
    /// The attribute that is wrong; `nil` when it is the record as a whole.
    public var attribute: String?
    /// Why.
    public var reason: String
    /// The first bytes of a record that could not be read, at most 4,096; `nil` for one that could,
    /// and in reports that a store keeps.
    public var content: Data?

    /// A reject.
    init(
      page: Int, record: Int, byteOffset: Int?, attribute: String? = nil, reason: String
    ) {
      self.page = page
      self.record = record
      self.byteOffset = byteOffset
      self.attribute = attribute
      self.reason = reason
    }
  }

  /// How an import ended.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Ending: String, Sendable, Codable {
    /// The import runs, or its process was killed.
    case open
    /// All pages arrived and were committed.
    case finished
    /// Its task was cancelled, or a later run of its name has begun; whole pages were kept.
    case cancelled
    /// An error ended it: ``ImportReport/failure`` says which. Whole pages were kept.
    case failed
  }

  /// The import's name.
  public var name = ""
  /// The entity that was imported into.
  public var entity = ""
  /// What became of records that the source does not have.
  public var strategy = ImportStrategy.upsert
  /// The number of the run among those with this name, from 1.
  public var run: UInt64 = 0
  /// How it ended.
  public var ending = Ending.open
  /// What ended it, when it failed.
  public var failure: String?
  /// When the run began.
  public var startedAt = Date(timeIntervalSinceReferenceDate: 0)

  /// Pages that were committed, unchanged ones included.
  public var pages = 0
  /// Pages of which the source said that they have not changed; their records were not read.
  public var unchangedPages = 0
  /// Records that are new.
  public var inserted = 0
  /// Stored records that have other values now.
  public var updated = 0
  /// Stored records that had these values already.
  public var unchanged = 0
  /// Records that were left out because the store has them, as asked.
  public var ignored = 0
  /// Stored records that the source no longer has and that were deleted, in a mirror.
  public var deleted = 0
  /// Records that were not imported, and why.
  public var rejects: [Reject] = []
  /// How many records were not imported; more than ``rejects`` holds when there are very many.
  public var rejected = 0
  /// Whether a mirror kept records that the source may no longer have.
  ///
  /// Such records stay when others could not be read, when a file lacks its end, and when the
  /// source has no record at all.
  public var keptUnseen = false
  /// What became of links to other records; `nil` where the import has none.
  public var links: Links?
  /// Members that came and are no attributes, and how often; the first thousand names.
  ///
  /// A member `_id` is one of them unless it is renamed: by its own name it is the id that a store
  /// gives.
  public var unknownMembers: [String: Int] = [:]

  /// A warning about records that were imported; `nil` for none, and at most
  /// 100.
  public var warnings: [String]?

  /// Bytes of the pages.
  public var bytes = 0
  /// Transactions.
  public var commits = 0
  /// How often the import was resumed after its process had been killed.
  public var resumptions = 0
  /// Seconds from the first page to the last commit.
  public var seconds = 0.0
  /// Seconds of decoding, summed over concurrent tasks.
  public var decodingSeconds = 0.0
  /// Seconds in transactions, beside the decoding.
  public var writingSeconds = 0.0

  /// The most rejects that a report keeps with their reasons.
  public static let longestRejectList = 10_000
  /// The most names of members without an attribute that a report keeps.
  static let mostUnknownMembers = 1000
  /// The most rejects that the report in the store keeps.
  static let longestStoredRejectList = 100
  static let longestWarningList = 100

  /// An empty report.
  init() {}

  /// Records that came, in pages that were committed.
  public var records: Int { inserted + updated + unchanged + ignored + rejected }

  /// Records a second.
  public var recordsPerSecond: Double { seconds > 0 ? Double(records) / seconds : 0 }

  /// Bounds the report when each page has other members.
  mutating func count(unknownMembers members: [(name: String, count: Int)]) {
    for (name, count) in members
    where unknownMembers.count < Self.mostUnknownMembers || unknownMembers[name] != nil {
      unknownMembers[name, default: 0] += count
    }
  }

  /// Whether the text of a file ended within its records, as after a transfer that was cut.
  ///
  /// Such a text ends within an array or object of JSON, or within quotes of a row. A last row with
  /// fewer fields than columns and no line end counts, too.
  ///
  /// The records before the end are imported, and the one that lacks its end is the last reject of
  /// its file. ``warnings`` names the files.
  public var isCut: Bool { warnings?.contains { $0.hasSuffix(PagePlaces.cutWarning) } ?? false }

  mutating func warn(_ text: String, file: String?) {
    let isFirstCut = text == PagePlaces.cutWarning && !isCut
    guard (warnings?.count ?? 0) < Self.longestWarningList || isFirstCut else { return }
    let warning = file.map { "\($0): \(text)" } ?? text
    if warnings?.contains(warning) == true { return }
    warnings = (warnings ?? []) + [warning]
  }

  mutating func reject(_ reject: Reject) {
    rejected += 1
    if rejects.count < Self.longestRejectList { rejects.append(reject) }
  }
}

extension ImportReport.Reject: CustomStringConvertible {
  /// As in `films.jsonl line 12, page 1 record 12: 'stars' must be at most 5`; without a line the
  /// byte.
  public var description: String {
    var place = [file, line.map { "line \($0)" }].compactMap(\.self).joined(separator: " ")
    place += "\(place.isEmpty ? "" : ", ")page \(page) record \(record)"
    if line == nil, let byteOffset { place += ", at byte \(byteOffset)" }
    return "\(place): \(reason)"
  }
}

extension ImportReport: CustomStringConvertible {
  /// One line, with the first reject, and what ended an import that failed.
  public var description: String {
    var text = "\(inserted) inserted, \(updated) updated, \(unchanged) unchanged, "
    if ignored > 0 { text += "\(ignored) ignored, " }
    if strategy == .mirror { text += "\(deleted) deleted, " }
    if unchangedPages > 0 { text += "\(unchangedPages) pages unchanged, " }
    text += "\(rejected) rejected"
    if let first = rejects.first {
      let file = first.file.map { "\($0) " } ?? ""
      text += " (\(file)page \(first.page) record \(first.record): \(first.reason)"
      text += rejected > 1 ? "; …)" : ")"
    }
    if let links {
      text += ", \(links.added) links added, \(links.removed) removed"
      if links.made > 0 { text += ", \(links.made) records made" }
      if let first = links.unresolvedKeys.first {
        text += ", \(links.unresolved) unresolved (page \(first.page) record \(first.record): "
        text += "\(first.member) \(first.key)\(links.unresolved > 1 ? "; …)" : ")")"
      }
    }
    if let failure { text += "; failed: \(failure)" }
    if let first = warnings?.first { text += "; \(first)" }
    if keptUnseen {
      text += "; nothing was deleted, as "
      text +=
        isCut
        ? "a file lacks its end"
        : records == 0 ? "the source has no record" : "rejected records may be stored ones"
    }
    return text
  }
}
