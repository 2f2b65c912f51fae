internal import LMDB

/// The treatment of stored records that match a page's records, and of stored records that no page
/// contains.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ImportStrategy: String, Sendable, Codable, CaseIterable {
  /// Matched records take the incoming values, following the merge policy; other records are
  /// inserted.
  case upsert
  /// Matched records are deleted, and the incoming ones inserted with new ids.
  ///
  /// A record that has not changed stays.
  case replaceMatching
  /// Records are upserted, and stored records that the source does not contain are deleted at the
  /// end.
  ///
  /// The deletion happens only when every page arrived. There are two exceptions:
  /// - After a record was rejected before its key was known, nothing is deleted, because the record
  ///   may be a stored one. See ``ImportOptions/deletesDespiteRejects``.
  /// - When the source has no records at all, nothing is deleted, because a failed export looks
  ///   like this. See ``ImportOptions/mirrorsEmptySources``.
  ///
  /// A record rejected after its key was known keeps the stored record with this key.
  case mirror
}

/// Options for how an import commits, stops and resumes.
public struct ImportOptions: Sendable {
  /// The name under which the store keeps the import's state, remembered pages and reports.
  ///
  /// A name has 1 to 64 bytes of UTF-8 without a zero byte. `nil` stands for the entity's name.
  public var name: String?
  /// Whether the import resumes an unfinished import of this name.
  ///
  /// A resumed import begins after the last committed page. Without an unfinished import, or when
  /// this is false, the import begins with the first page.
  public var resumes = false
  /// The number of records at which a group of pages is committed.
  ///
  /// A page is never divided. A killed import loses at most the pages of one group, which a resumed
  /// import reads again. A group writes each page of an index tree to the store's file once,
  /// however many records change. A few large groups therefore write much less than many small
  /// ones.
  public var groupRecordLimit = 524_288
  /// The number of bytes, of pages and their records, at which a group is committed.
  ///
  /// The default is a 64th of the machine's memory, from 32 MiB to 256 MiB.
  public var groupByteLimit = min(max(SystemMemory.byteCount / 64, 32 << 20), 256 << 20)
  /// The time after which a group is committed, counted from its first page.
  ///
  /// While the previous group is being written, the group continues to grow up to the two limits.
  public var groupDuration = Duration.milliseconds(500)
  /// The number of pages that are decoded concurrently, in addition to the one task that writes.
  ///
  /// Allowed are 1 to 256; a number outside of this range is replaced by the nearest bound.
  public var pagesDecodedAtOnce = 2
  static let mostPagesDecodedAtOnce = 256
  /// The maximum number of rejects; a further reject ends the import, and its page is not imported.
  ///
  /// 0 stops at the first reject.
  public var rejectLimit = Int.max
  /// Whether a mirror deletes unseen records even though records were rejected.
  ///
  /// After a truncated file, a mirror never deletes records; see ``ImportReport/isCut``.
  public var deletesDespiteRejects = false
  /// Whether a mirror deletes all records when the source has none.
  public var mirrorsEmptySources = false
  /// Whether a source is asked only for pages that have changed since they were imported.
  ///
  /// In these cases the source is asked for all pages:
  /// - Another writer has updated or deleted stored records.
  /// - The entity's schema, the rules of the import, or ``version`` has changed.
  ///
  /// A page whose links to other records no longer exist is requested too.
  public var asksForChangesOnly = true
  /// The version of the closure that creates the records.
  ///
  /// Raise it when the closure creates other records; the next import then requests all pages once.
  public var version = 0

  /// Creates the default options.
  public init() {}
}
