/// Why a dataset cannot be published, verified, fetched or opened.
///
/// `code` is for programs, `message` for people: the message names the action that failed, the fact
/// found, and the next step.
public struct DatasetError: Error, Sendable {
  /// The kind of a failure.
  ///
  /// New codes may be added; keep a default case.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as in `DatasetError.Code.untrusted`.
    public let description: String

    package init(_ description: String) { self.description = description }

    /// A signature is missing, is made by no trusted key, or does not fit the bytes.
    public static let untrusted = Code("untrusted")
    /// A file of the publisher breaks the format or exceeds a limit.
    public static let malformed = Code("malformed")
    /// A file of the publisher has a version that this library does not know.
    public static let newerFormat = Code("newerFormat")
    /// A file belongs to a dataset of another name.
    public static let otherDataset = Code("otherDataset")
    /// Bytes differ from those whose digest was signed.
    public static let damaged = Code("damaged")
    /// A generation is not newer than the one that is there.
    public static let notNewer = Code("notNewer")
    /// Text or a file is no key, or not the key that is needed.
    public static let badKey = Code("badKey")
    /// The file to publish is no sealed file.
    public static let notSealed = Code("notSealed")
    /// Another process is at work on the same files.
    public static let busy = Code("busy")
    /// There is nothing at a path.
    public static let notFound = Code("notFound")
    /// The system refused to read or write a file.
    public static let inputOutput = Code("inputOutput")
    /// The disk has no room.
    public static let diskFull = Code("diskFull")
    /// The package was built without the trait that brings the libraries needed.
    public static let unsupported = Code("unsupported")
  }

  /// The kind of failure.
  public var code: Code
  /// The action that failed and the reason, in one line.
  public var message: String
  /// The error beneath.
  public var cause: (any Error)?

  package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

extension DatasetError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The message.
  public var description: String { message }

  /// Code, message and cause.
  public var debugDescription: String {
    cause.map { "\(code): \(message) (\($0))" } ?? "\(code): \(message)"
  }
}
