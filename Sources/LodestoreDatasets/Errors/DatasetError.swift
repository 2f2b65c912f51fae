public import Foundation

/// The error of a failure to publish, verify, fetch or open a dataset.
///
/// `code` is for programs. `message` is for people: it states the failed action, the fact found,
/// and the next step.
public struct DatasetError: Error, Sendable {
  /// The kind of a failure.
  ///
  /// New codes may be added; keep a default case.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as in `DatasetError.Code.untrusted`.
    public let description: String

    package init(_ description: String) { self.description = description }

    /// A signature is missing, is by no trusted key, or does not match the bytes.
    public static let untrusted = Code("untrusted")
    /// A file of the publisher breaks the format or exceeds a limit.
    public static let malformed = Code("malformed")
    /// A file of the publisher has a version that this library does not know.
    public static let newerFormat = Code("newerFormat")
    /// A file belongs to a dataset of another name.
    public static let otherDataset = Code("otherDataset")
    /// The bytes of a file do not have the digest that was signed.
    public static let damaged = Code("damaged")
    /// The number of a generation to publish or install is not above the existing one.
    public static let notNewer = Code("notNewer")
    /// A text or a file is not a key, or is another key than the required one.
    public static let badKey = Code("badKey")
    /// The file to publish is not a sealed file.
    public static let notSealed = Code("notSealed")
    /// Another process is working on the same files.
    public static let busy = Code("busy")
    /// Nothing exists at a path.
    public static let notFound = Code("notFound")
    /// The system could not read or write a file.
    public static let inputOutput = Code("inputOutput")
    /// The disk is full.
    public static let diskFull = Code("diskFull")
    /// The package was built without the trait that adds the required libraries.
    public static let unsupported = Code("unsupported")
  }

  /// The kind of failure.
  public var code: Code
  /// The failed action and the reason, in one line.
  public var message: String
  /// The underlying error.
  public var cause: (any Error)?

  package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

extension DatasetError.Code {
  /// Makes an error with this code.
  func error(_ message: String, cause: (any Error)? = nil) -> DatasetError {
    DatasetError(self, message, cause: cause)
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

extension DatasetError: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { message }
}
