public import LodestoreEssentials

/// The reason why a store refused or failed to do something.
///
/// `code` is for programs. `message` is for people and contains the failed action, the found fact,
/// and the next step. Attribute values are the user's data, so the message does not contain them;
/// ``debugDescription`` shows them, cut to 64 bytes. The only exception is a stored raw value that
/// no case of an enumeration has, because without it nobody can tell which case is missing.
/// `entity`, `attribute`, `index` and `recordID` contain the facts of a unique violation and of
/// errors about one record.
///
///     do {
///       try store.write { tx in try tx.insert(pod) }
///     } catch let error as StoreError where error.code == .uniqueViolation {
///       print("held by record", error.recordID ?? 0)
///     }
public struct StoreError: Error, Sendable {
  /// The kind of failure.
  ///
  /// New codes may be added; keep a default case.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as in `StoreError.Code.uniqueViolation`.
    public let description: String

    init(_ description: String) { self.description = description }

    /// The file does not exist, and the options do not allow creating it.
    public static let noSuchStore = Code("noSuchStore")
    /// The file is not a store of this library, or has an unknown format.
    public static let notAStore = Code("notAStore")
    /// The file needs a newer version of the library.
    public static let newerFormat = Code("newerFormat")
    /// Another version of LMDB created the file, and this program's version cannot write it.
    public static let otherEngine = Code("otherEngine")
    /// The path cannot hold a store: a link, a directory, a device, an unsupported file system.
    public static let unsuitablePath = Code("unsuitablePath")
    /// The operating system does not permit this process to read or write the file.
    public static let notPermitted = Code("notPermitted")
    /// The bytes in the file violate the format.
    public static let damaged = Code("damaged")
    /// The commit before the newest one is not available; see
    /// ``StoreOptions/Access/previousCommit``.
    public static let noPreviousCommit = Code("noPreviousCommit")
    /// An entity in the file cannot be used with, or changed to, the type that the program
    /// declares.
    public static let incompatibleSchema = Code("incompatibleSchema")
    /// A declaration contradicts itself.
    public static let badSchema = Code("badSchema")
    /// The store was not opened with this entity.
    public static let unknownEntity = Code("unknownEntity")
    /// No index has these attributes in this order.
    public static let unknownIndex = Code("unknownIndex")
    /// Another record has this value in a unique index.
    public static let uniqueViolation = Code("uniqueViolation")
    /// A merge policy forbids combining a stored and an incoming value.
    public static let mergeConflict = Code("mergeConflict")
    /// No record has this id.
    public static let noSuchRecord = Code("noSuchRecord")
    /// A record has a link to a missing record, or would have one at the end of the write.
    public static let missingTarget = Code("missingTarget")
    /// A delete rule denies the delete, because the record has links to others or others to it.
    public static let deleteDenied = Code("deleteDenied")
    /// The value already has an id, or lacks a required one.
    public static let invalidID = Code("invalidID")
    /// A value cannot be stored, because it is too large or cannot be encoded.
    public static let unstorableValue = Code("unstorableValue")
    /// A value breaks a constraint or a rule; see ``AttributeConstraint`` and ``RecordRule``.
    public static let invalidValue = Code("invalidValue")
    /// A stored value cannot be decoded as the declared type.
    public static let undecodableValue = Code("undecodableValue")
    /// A write was started inside a write on the same store.
    public static let nestedWrite = Code("nestedWrite")
    /// The store was opened read-only, or the file cannot be written.
    public static let readOnly = Code("readOnly")
    /// The store is a sealed file, which nobody writes; see ``Store/seal``.
    public static let sealed = Code("sealed")
    /// The file is not a sealed one.
    public static let notSealed = Code("notSealed")
    /// The store has been closed, or is used after a fork.
    public static let closed = Code("closed")
    /// A sync failed; the store must be closed and opened again.
    public static let poisoned = Code("poisoned")
    /// The disk is full.
    public static let diskFull = Code("diskFull")
    /// The file cannot grow, because of a limit or because a snapshot stays open.
    public static let mapFull = Code("mapFull")
    /// The store's file and its lock file do not belong together.
    ///
    /// One of them was replaced, moved or removed while the store was open, or another process has
    /// the file open under another path.
    public static let mismatchedFiles = Code("mismatchedFiles")
    /// All reader slots are in use, or the writer's lock is not available.
    public static let busy = Code("busy")
    /// Reading or writing the file failed.
    public static let inputOutput = Code("inputOutput")
    /// A query or a condition is invalid: it cannot be parsed or run.
    ///
    /// A name may be unknown, values may be incompatible, or a required index may be missing.
    public static let invalidQuery = Code("invalidQuery")
    /// A condition could not be evaluated on a record, for example because of a division by zero.
    public static let conditionFailed = Code("conditionFailed")
    /// The work was cancelled.
    public static let cancelled = Code("cancelled")
    /// An import cannot continue.
    public static let importStopped = Code("importStopped")
    /// Before a commit, derived attributes and other sinks changed each other without end.
    public static let endlessChanges = Code("endlessChanges")
    /// A failed transaction was used again.
    public static let brokenTransaction = Code("brokenTransaction")
    /// A token is older than the remaining history.
    ///
    /// Read the records again, and continue with the token from that read.
    public static let expiredHistory = Code("expiredHistory")
    /// A write cannot be undone, because of later changes or because the history lacks required
    /// data.
    public static let cannotUndo = Code("cannotUndo")
    /// A snapshot was ended because it was older than its limit.
    ///
    /// A read without a lock file was ended because other processes made two commits meanwhile.
    public static let snapshotExpired = Code("snapshotExpired")
    /// A record has been changed since its edit began.
    public static let editConflict = Code("editConflict")
  }

  /// The kind of failure.
  public var code: Code
  /// The failed action and its reason, in one line.
  public var message: String
  /// The underlying error of the engine or a decoder, with its own name and number.
  public var cause: (any Error)?
  /// The entity that the error concerns.
  public var entity: String?
  /// The index that the error concerns, in the form `Entity.attribute+attribute`.
  public var index: String?
  /// The attribute that the error concerns.
  public var attribute: String?
  /// The id of the record that the error concerns; for a unique violation, the record with the
  /// value.
  public var recordID: UInt64?
  /// The position of the refused value in a batch insert, counted from 0; `nil` otherwise.
  ///
  /// Of two values with one unique key, the later one is refused.
  public var batchPosition: Int?
  /// The broken rules of ``Code/invalidValue``, limited to the first hundred or a few more;
  /// otherwise empty.
  public var violations: [RuleViolation] = []
  /// Whether the error is a broken rule on attributes derived from related records.
  ///
  /// Such rules are checked at the end of the write.
  var isOfLateRule = false
  /// The values that the error concerns, for ``debugDescription`` only.
  var privateDetail: String?

  /// Creates an error as a store would throw it, for tests of a program's error handling.
  public init(
    _ code: Code, message: String, cause: (any Error)? = nil, entity: String? = nil,
    index: String? = nil, attribute: String? = nil, recordID: UInt64? = nil
  ) {
    self.init(
      code, message, cause: cause, entity: entity, index: index, attribute: attribute,
      recordID: recordID, privateDetail: nil)
  }

  init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, entity: String? = nil,
    index: String? = nil, attribute: String? = nil, recordID: UInt64? = nil,
    privateDetail: String? = nil
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.entity = entity
    self.index = index
    self.attribute = attribute
    self.recordID = recordID
    self.privateDetail = privateDetail
  }
}

extension StoreError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The message, without attribute values.
  public var description: String { message }

  /// The code, the message, the attribute values, and the cause unless the message contains it.
  public var debugDescription: String {
    var text = "\(code): \(message)"
    if let privateDetail { text += " [\(privateDetail)]" }
    if let cause, !messageIncludes(cause) { text += " (\(cause))" }
    return text
  }
}

extension StoreError: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { message }
}
