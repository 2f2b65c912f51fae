public import LodestoreEssentials

/// The result of an import.
///
/// A report is a printable and `Codable` value. The store keeps it under the import's name.
public struct ImportReport: Sendable, Codable, Hashable {
  /// A record that was not imported.
  public struct Reject: Sendable, Codable, Hashable {
    /// The number of the page, counted from 1.
    public var page: Int
    /// The number of the record in its page, counted from 1.
    public var record: Int
    /// The file of the page; `nil` when it did not come from ``FilePages``.
    public var file: String?
    /// The line on which the record begins, counted from 1; `nil` when it is unknown.
    public var line: Int?
    /// The offset in bytes of the record, or of the error in the record.
    ///
    /// In a file, the offset is in the decompressed text as UTF-8. For a page without a file, the
    /// offset is in the page. `nil` when the page did not come as bytes.
    public var byteOffset: Int?
    /// The attribute with the error; `nil` when the error is in the record as a whole.
    public var attribute: String?
    /// The reason for the rejection.
    public var reason: String
    /// The first bytes of a record that could not be read, at most 4,096.
    ///
    /// `nil` when the record could be read, and in reports that a store keeps.
    public var content: Data?

    /// Creates a reject.
    init(page: Int, record: Int, byteOffset: Int?, attribute: String? = nil, reason: String) {
      self.page = page
      self.record = record
      self.byteOffset = byteOffset
      self.attribute = attribute
      self.reason = reason
    }
  }

  /// The way in which an import ended.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Ending: String, Sendable, Codable {
    /// The import is running, or its process was killed.
    case open
    /// All pages arrived and were committed.
    case finished
    /// The import's task was cancelled, or a later run of this name began; complete pages were
    /// kept.
    case cancelled
    /// An error ended the import; complete pages were kept.
    ///
    /// ``ImportReport/failure`` describes the error.
    case failed
  }

  /// The import's name.
  public var name = ""
  /// The name of the entity.
  public var entity = ""
  /// The treatment of matched records, and of records that the source does not contain.
  public var strategy = ImportStrategy.upsert
  /// The number of the run among the runs with this name, counted from 1.
  public var run: UInt64 = 0
  /// The way in which the import ended.
  public var ending = Ending.open
  /// The description of the error that ended the import; `nil` for other endings.
  public var failure: String?
  /// The time at which the run began.
  public var startedAt = Date(timeIntervalSinceReferenceDate: 0)

  /// The number of committed pages, including unchanged ones.
  public var pages = 0
  /// The number of pages that the source reported as unchanged; their records were not read.
  public var unchangedPages = 0
  /// The number of new records.
  public var inserted = 0
  /// The number of stored records whose values changed.
  public var updated = 0
  /// The number of stored records whose values stayed equal.
  public var unchanged = 0
  /// The number of records left out because the store has them, as the merge policy requires.
  public var ignored = 0
  /// The number of stored records deleted by a mirror because the source no longer contains them.
  public var deleted = 0
  /// The rejected records, with reasons; at most ``longestRejectList``.
  public var rejects: [Reject] = []
  /// The number of rejected records, including those beyond the list ``rejects``.
  public var rejected = 0
  /// Whether a mirror kept records that the source may no longer contain.
  ///
  /// The mirror keeps them in three cases. Some records of the source could not be read, a file was
  /// truncated, or the source has no records at all.
  public var keptUnseen = false
  /// The outcome of links to other records; `nil` when the import has no links.
  public var links: Links?
  /// The members that are not attributes, by name, with the number of records that have them; at
  /// most a thousand names.
  ///
  /// Without a renaming, a member `_id` is among them, because `_id` names the id that a store
  /// assigns.
  public var unknownMembers: [String: Int] = [:]

  /// Warnings about the imported pages and files, such as a truncated file; at most 100, `nil` for
  /// none.
  public var warnings: [String]?

  /// The bytes of the pages.
  public var bytes = 0
  /// The number of transactions.
  public var commits = 0
  /// The number of times the import was resumed.
  public var resumptions = 0
  /// The seconds from the first page to the last commit.
  public var seconds = 0.0
  /// The seconds spent decoding, summed over concurrent tasks.
  public var decodingSeconds = 0.0
  /// The seconds spent in transactions, during which pages are also decoded.
  public var writingSeconds = 0.0

  /// The maximum number of rejects that a report lists.
  public static let longestRejectList = 10_000
  /// The maximum number of unknown members that a report lists.
  static let mostUnknownMembers = 1000
  /// The maximum number of rejects that a report in the store lists.
  static let longestStoredRejectList = 100
  static let longestWarningList = 100

  /// Creates an empty report.
  init() {}

  /// The number of records in the committed pages.
  public var records: Int { inserted + updated + unchanged + ignored + rejected }

  /// The number of records in the committed pages per second of the import.
  public var recordsPerSecond: Double { seconds > 0 ? Double(records) / seconds : 0 }

  /// Adds counts of unknown members; limits the number of names in case each page has other
  /// members.
  mutating func count(unknownMembers members: [(name: String, count: Int)]) {
    for (name, count) in members
    where unknownMembers.count < Self.mostUnknownMembers || unknownMembers[name] != nil {
      unknownMembers[name, default: 0] += count
    }
  }

  /// Whether the text of a file was truncated, as after an interrupted transfer.
  ///
  /// A truncated text ends inside an array or object of JSON, or inside the quotes of a row. A last
  /// row without a line end also counts as truncated if it has fewer fields than columns.
  ///
  /// The records before the end are imported, and the incomplete record is the last reject of its
  /// file. ``warnings`` names the files.
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
  /// The place and the reason, as in `films.jsonl line 12, page 1 record 12: 'stars' must be at
  /// most 5`.
  ///
  /// Without a known line, the byte offset is given.
  public var description: String {
    var place = [file, line.map { "line \($0)" }].compactMap(\.self).joined(separator: " ")
    place += "\(place.isEmpty ? "" : ", ")page \(page) record \(record)"
    if line == nil, let byteOffset { place += ", at byte \(byteOffset)" }
    return "\(place): \(reason)"
  }
}

extension ImportReport: CustomStringConvertible {
  /// One line with the counts, the first reject, and the error of a failed import.
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
