internal import EntityStore
public import LodestoreEssentials
internal import LodestoreSystem

/// The error of a failure to write, follow or restore a replica.
///
/// `code` is for programs. `message` is for people: it states the failed action, the fact found,
/// and the next step.
public struct ReplicaError: Error, Sendable {
  /// The kind of a failure.
  ///
  /// New codes may be added; keep a default case.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as in `ReplicaError.Code.fenced`.
    public let description: String

    /// The store is an older copy: the replica has later writes of this store.
    public static let behind = Code(description: "behind")
    /// Another writer has taken over.
    public static let fenced = Code(description: "fenced")
    /// The store and the replica have different writes under equal numbers, or different content
    /// after equal writes.
    public static let diverged = Code(description: "diverged")
    /// The replica belongs to another store.
    public static let otherStore = Code(description: "otherStore")
    /// The store belongs to another replica than the storage has, or the storage has none.
    public static let otherReplica = Code(description: "otherReplica")
    /// The storage breaks a promise on which replicas depend.
    public static let untrustworthyStorage = Code(description: "untrustworthyStorage")
    /// The storage could not be used.
    public static let storage = Code(description: "storage")
    /// An object of the replica is damaged, missing, or not the expected one.
    public static let damaged = Code(description: "damaged")
    /// An object of the replica needs a later version of the library.
    public static let newerFormat = Code(description: "newerFormat")
    /// The replica has no base from which a copy can start.
    public static let noBase = Code(description: "noBase")
    /// The replica does not keep the wanted state.
    public static let notKept = Code(description: "notKept")
    /// The store cannot be replicated or followed as it is.
    public static let unsuitableStore = Code(description: "unsuitableStore")
    /// Something exists at the path of a new file, or nothing exists at a path that is read.
    public static let unsuitablePath = Code(description: "unsuitablePath")
    /// Another process is working on the same files.
    public static let busy = Code(description: "busy")
    /// The writer or the follower was stopped.
    public static let stopped = Code(description: "stopped")
    /// The system could not read or write a file.
    public static let inputOutput = Code(description: "inputOutput")
    /// The package was built without the trait that adds the required libraries.
    public static let unsupported = Code(description: "unsupported")
  }

  /// The kind of failure.
  public var code: Code
  /// The failed action and the reason, in one line.
  public var message: String
  /// The slot of the log to which the failure belongs; `nil` if it belongs to no slot.
  public var slot: UInt64?
  /// The numbers of the store's writes that no replica has; `nil` unless ``code`` is `diverged` or
  /// `fenced`.
  ///
  /// ``Replica/exportDiverged(_:to:from:)`` writes them to a file.
  public var divergedWrites: ClosedRange<UInt64>?
  /// The underlying error.
  public var cause: (any Error)?

  package init(
    _ code: Code, _ message: String, slot: UInt64? = nil,
    divergedWrites: ClosedRange<UInt64>? = nil, cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.slot = slot
    self.divergedWrites = divergedWrites
    self.cause = cause
  }
}

extension ReplicaError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The message.
  public var description: String { message }

  /// Code, message and cause.
  public var debugDescription: String {
    cause.map { "\(code): \(message) (\($0))" } ?? "\(code): \(message)"
  }
}

extension ReplicaError: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { message }
}

extension ReplicaError {
  /// Converts an error of a file that a replica reads or writes.
  init(_ error: StoreError) {
    let code: Code =
      switch error.code {
      case .damaged: .damaged
      case .busy: .busy
      case .unsuitablePath: .unsuitablePath
      default: .inputOutput
      }
    self.init(code, error.message, cause: error)
  }

  init(_ error: StorageError) { self.init(.storage, error.message, cause: error) }

  init(_ error: PackError) {
    let code: Code =
      switch error.code {
      case .newerFormat: .newerFormat
      case .compression: .unsupported
      case .tooLarge: .unsuitableStore
      case .damaged, .brokenChain, .missing: .damaged
      }
    self.init(code, error.message, slot: error.slot, cause: error)
  }

  /// Converts an error of a lower layer; other errors stay.
  static func wrapped(_ error: any Error) -> any Error {
    switch error {
    case let error as StorageError: ReplicaError(error)
    case let error as PackError: ReplicaError(error)
    default: error
    }
  }

  static func system(_ code: Int32, _ action: String, _ path: String) -> ReplicaError {
    ReplicaError(
      .inputOutput,
      "cannot \(action) '\(path)': \(String(cString: strerror(code))); check the path and the disk")
  }
}
