internal import LMDB

/// The rule of an import for ids, and for stored records that the source no longer has.
///
/// A ``MergePolicy`` says how a stored record and an incoming one with its key become one.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ImportStrategy: String, Sendable, Codable, CaseIterable {
  /// Records that the store has take the incoming values, as the merge policy says; the others are
  /// inserted.
  case upsert
  /// Stored records whose keys are in the page are deleted and the incoming ones inserted, with new
  /// ids; a record that has not changed stays.
  case replaceMatching
  /// As ``upsert``, and what the source does not have is deleted at the end.
  ///
  /// Nothing is deleted unless every page arrived, nor when a record was rejected before its key
  /// was known, as it may be one that is stored; see ``ImportOptions/deletesDespiteRejects``. Nor
  /// is everything deleted because a source has no record at all, which a failed export has as
  /// well; see ``ImportOptions/mirrorsEmptySources``. A record that is rejected later, as the one
  /// of a page that a later one replaces, keeps the stored record with its key, and no other.
  case mirror
}

/// How an import commits, stops and goes on.
public struct ImportOptions: Sendable {
  /// The name under which the store keeps how far the import is, what it remembers of pages, and
  /// reports: 1 to 64 bytes of UTF-8 without a zero byte; `nil` for the entity's name.
  public var name: String?
  /// Goes on after the last page that was committed when the last import of this name did not get
  /// to its end; otherwise begins anew.
  public var resumes = false
  /// Pages are committed together until they have so many records.
  ///
  /// A page is never divided, and a killed import loses at most the pages of one group, which it
  /// gets again when it goes on. A group writes each page of an index once that any of its records
  /// changes, so that a few large groups write much less than many small ones.
  public var groupRecordLimit = 524_288
  /// The same in bytes of pages and of their records: a 64th of the machine's memory, from 32 MiB
  /// to 256 MiB.
  public var groupByteLimit = min(max(SystemMemory.byteCount / 64, 32 << 20), 256 << 20)
  /// A group is committed when its first page has waited so long; while the group before it is
  /// written it goes on growing up to the two limits.
  public var groupDuration = Duration.milliseconds(500)
  /// How many pages are decoded side by side, beside the one task that writes: 1 to 256, and the
  /// nearest of these for another number.
  public var pagesDecodedAtOnce = 2
  static let mostPagesDecodedAtOnce = 256
  /// Rejects beyond so many end the import: the page in which that happens is not kept.
  ///
  /// 0 stops at the first.
  public var rejectLimit = Int.max
  /// Whether a mirror deletes what it has not seen although records were rejected.
  ///
  /// After a file that lacks its end it deletes nothing all the same; see ``ImportReport/isCut``.
  public var deletesDespiteRejects = false
  /// Whether a mirror deletes all records when the source has none.
  public var mirrorsEmptySources = false
  /// Whether a source is asked only for pages that have changed since they were imported.
  ///
  /// It is asked for all of them when stored records were updated or deleted by others than this import,
  /// when the entity's schema or the way of importing is another one, and when ``version`` is; and
  /// for a page whose links to other records are no longer there.
  public var asksForChangesOnly = true
  /// The version of the program's own part in the records, as of the closure that makes them: raise it
  /// when that makes others, and a source is asked for all of its pages once.
  public var version = 0

  /// The standard options.
  public init() {}
}
