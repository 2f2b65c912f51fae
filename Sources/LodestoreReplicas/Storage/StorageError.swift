/// The reason why a call of a storage failed.
package struct StorageError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// There is no object with the key.
    case notFound
    /// There is no such bucket or folder.
    case noBucket
    /// The condition of a write does not hold: another object is in place, or none.
    case conditionFailed
    /// Another write of the key was in progress; nothing was decided, so the call is repeated.
    case conflictAgain
    /// The service asks for fewer requests, after the given wait if it names one.
    case throttled(retryAfter: Duration?)
    /// The service failed or could not be reached.
    case unavailable
    /// The answer did not arrive, or only a part of it.
    case cut
    /// The service knows the caller and does not allow the call, or does not know the caller.
    case denied
    /// The service does not support the call or its condition.
    case unsupported
    /// The answer breaks the rules of the interface.
    case badAnswer
    /// The content is larger than the caller's limit, or than an object may be.
    case tooLarge
    /// The requested range begins at or after the end of the object.
    case badRange
    /// The call's own values cannot be used: an address, credentials, a file.
    case badRequest
    /// The system reports an error for a file or a folder.
    case system(code: Int32)
    /// The task was cancelled.
    case cancelled
  }

  package enum Operation: String, Sendable, Hashable {
    case open, get, put, head, list, delete

    /// Whether the call changes the storage.
    var isWrite: Bool { self == .put || self == .delete }
  }

  package var kind: Kind
  package var operation: Operation
  /// The key of the object, or the prefix of a list; empty for the storage itself.
  package var key: String
  /// Whether a write may have taken effect, or may still do so.
  ///
  /// True only for writes whose answer was lost. A refusal has false: nothing was written.
  package var mayHaveHappened: Bool
  /// The service's own code, such as `SlowDown`.
  package var serviceCode: String?
  /// The failed call, the key, the place, the fact found, and the next step.
  package var message: String

  package var description: String { message }

  /// - Parameters:
  ///   - reason: The fact that was found.
  ///   - advice: The next step, if there is a better one than that of the kind.
  package init(
    _ kind: Kind, _ operation: Operation, key: String, place: String, reason: String,
    advice: String? = nil, mayHaveHappened: Bool = false, serviceCode: String? = nil
  ) {
    self.kind = kind
    self.operation = operation
    self.key = key
    self.mayHaveHappened = mayHaveHappened && operation.isWrite
    self.serviceCode = serviceCode
    var advice = advice ?? kind.advice
    if self.mayHaveHappened { advice += "; the write may have taken effect" }
    let thing = key.isEmpty ? "'\(place)'" : "'\(Self.visible(key))' in '\(place)'"
    message =
      "cannot \(operation.words) \(thing): \(Self.visible(reason)); \(advice)"
  }

  /// Whether the same call may succeed later.
  package var isWorthRepeating: Bool {
    switch kind {
    case .conflictAgain, .throttled, .unavailable, .cut: true
    default: false
    }
  }

  /// Text of a service for a message: without control characters, and at most 300 characters.
  static func visible(_ text: String) -> String {
    let cut = text.unicodeScalars.prefix(300).map { scalar -> Character in
      scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "?" : Character(scalar)
    }
    return String(cut)
  }
}

extension StorageError.Operation {
  fileprivate var words: String {
    switch self {
    case .open: "use the storage"
    case .get: "read"
    case .put: "write"
    case .head: "look up"
    case .list: "list"
    case .delete: "delete"
    }
  }
}

extension StorageError.Kind {
  fileprivate var advice: String {
    switch self {
    case .notFound: "check the key"
    case .noBucket: "create it, or check the address"
    case .conditionFailed: "read the object in place"
    case .conflictAgain, .throttled, .unavailable: "repeat the call later"
    case .cut:
      "check the network between this machine and the storage, and repeat the call with the same "
        + "content"
    case .denied: "check the credentials and their permissions"
    case .unsupported: "use another storage"
    case .badAnswer: "check that the address is that of an S3-compatible service"
    case .tooLarge: "raise the limit, or split the content"
    case .badRange: "read the object from its beginning"
    case .badRequest: "correct the value"
    case .system: "check the folder, its permissions and its free space"
    case .cancelled: "call again when needed"
    }
  }
}
