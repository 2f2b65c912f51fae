public import LodestoreEssentials

/// Why a store refused or could not do something.
///
/// `code` is for programs, `message` for people: the failed action, the fact found, and the next
/// step. Attribute values are the user's data and stay out of it; ``debugDescription`` shows them,
/// cut to 64 bytes. The one exception is a stored raw value that no case of an enumeration has:
/// without it nobody would see which case is missing. `entity`, `attribute`, `index` and `recordID`
/// carry the facts of a unique violation and of errors about one record.
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

    /// No file is there, and creating one was not asked for.
    public static let noSuchStore = Code("noSuchStore")
    /// The file is not a store of this library, or of a format that it does not know.
    public static let notAStore = Code("notAStore")
    /// The file needs a newer version of the library.
    public static let newerFormat = Code("newerFormat")
    /// Another version of LMDB made the file, and the one of this program cannot write it.
    public static let otherEngine = Code("otherEngine")
    /// The path cannot hold a store: a link, a directory, a device, an unsupported file system.
    public static let unsuitablePath = Code("unsuitablePath")
    /// The operating system does not let this process read or write here.
    public static let notPermitted = Code("notPermitted")
    /// The bytes in the file break the format.
    public static let damaged = Code("damaged")
    /// The commit before the newest one cannot be had; see ``StoreOptions/Access/previousCommit``.
    public static let noPreviousCommit = Code("noPreviousCommit")
    /// A stored entity and its declared type do not fit together.
    public static let incompatibleSchema = Code("incompatibleSchema")
    /// A declaration contradicts itself.
    public static let badSchema = Code("badSchema")
    /// The entity is not one that the store was opened with.
    public static let unknownEntity = Code("unknownEntity")
    /// No index has these attributes in this order.
    public static let unknownIndex = Code("unknownIndex")
    /// Another record holds the value of a unique index.
    public static let uniqueViolation = Code("uniqueViolation")
    /// A merge policy does not let a stored value and an incoming one become one.
    public static let mergeConflict = Code("mergeConflict")
    /// No record has this id.
    public static let noSuchRecord = Code("noSuchRecord")
    /// A record leads to one that is not there, or would once the write has ended.
    public static let missingTarget = Code("missingTarget")
    /// A record cannot be deleted while it leads to others, or others to it.
    public static let deleteDenied = Code("deleteDenied")
    /// A value already has an id, has none where one is needed, or was given another id.
    public static let invalidID = Code("invalidID")
    /// A value cannot be stored: too large, or it cannot be encoded.
    public static let unstorableValue = Code("unstorableValue")
    /// A value breaks a constraint that its attribute declares; see ``AttributeConstraint``.
    public static let invalidValue = Code("invalidValue")
    /// A stored value does not decode as the declared type.
    public static let undecodableValue = Code("undecodableValue")
    /// A write inside a write on one store.
    public static let nestedWrite = Code("nestedWrite")
    /// The store was opened read-only, or nothing may be written to it.
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
    /// The store's file and its lock file do not belong together: one was replaced, moved or
    /// removed while the store is open, or another process has the file open by another path.
    public static let mismatchedFiles = Code("mismatchedFiles")
    /// All reader slots are taken, or the writer's lock cannot be had.
    public static let busy = Code("busy")
    /// Reading or writing the file failed.
    public static let inputOutput = Code("inputOutput")
    /// A query or a condition cannot be run: it does not parse, names what is not there, compares
    /// what cannot be compared, or needs an index that is not there.
    public static let invalidQuery = Code("invalidQuery")
    /// A condition could not be evaluated on a record: a division by zero, a missing value
    /// unwrapped.
    public static let conditionFailed = Code("conditionFailed")
    /// The work was cancelled.
    public static let cancelled = Code("cancelled")
    /// An import cannot go on.
    public static let importStopped = Code("importStopped")
    /// Derived values change again and again before a commit, in a circle.
    public static let endlessChanges = Code("endlessChanges")
    /// A transaction that failed was used on.
    public static let brokenTransaction = Code("brokenTransaction")
    /// A token is older than the rest of the history: read the records again, then go on from
    /// the token that the read gives.
    public static let expiredHistory = Code("expiredHistory")
    /// A write cannot be undone: later changes are in its way, or what is needed was not kept.
    public static let cannotUndo = Code("cannotUndo")
    /// A snapshot has been ended because it was too old, or two commits of other processes have
    /// overtaken a read without a lock file.
    public static let snapshotExpired = Code("snapshotExpired")
    /// A record has been changed since the edit of it began.
    public static let editConflict = Code("editConflict")
  }

  /// The kind of failure.
  public var code: Code
  /// The failed action and its reason, in one line.
  public var message: String
  /// The error beneath, the engine's or a decoder's, with its own name and number.
  public var cause: (any Error)?
  /// The entity concerned.
  public var entity: String?
  /// The index concerned, as `Entity.attribute+attribute`.
  public var index: String?
  /// The attribute concerned.
  public var attribute: String?
  /// The id of the record concerned; for a unique violation, the record that holds the value.
  public var recordID: UInt64?
  /// The position among the values of a batch insert, from 0, of the value that was refused; `nil`
  /// elsewhere.
  ///
  /// Of two values with one unique key it is the later one.
  public var batchPosition: Int?
  /// The broken rules of ``Code/invalidValue``, the first 100 or a few more; otherwise none.
  public var violations: [RuleViolation] = []
  /// Whether a rule over attributes derived from related records was found broken at the end of the
  /// write.
  var isOfLateRule = false
  /// The values concerned, for ``debugDescription`` only.
  var privateDetail: String?

  /// An error as a store throws it, for tests of how a program handles them.
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

  /// Code, message, cause, unless the message has it, and attribute values.
  public var debugDescription: String {
    var text = "\(code): \(message)"
    if let privateDetail { text += " [\(privateDetail)]" }
    if let cause, !isTold(cause) { text += " (\(cause))" }
    return text
  }
}

extension StoreError: LocalizedError {
  /// The message: Foundation, and tools that print errors by it, ask for it.
  public var errorDescription: String? { message }
}
