public import LodestoreEssentials

/// A value that JSON cannot represent.
public struct JSONWriteError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason why a value was refused.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Reason: Hashable, Sendable {
    /// A double is infinite or not a number.
    case notFinite(Double)
    /// Arrays and objects are nested deeper than `limit`.
    case tooDeep(limit: Int)
  }

  /// The reason why the value was refused.
  public let reason: Reason
  /// Keys and positions from the outermost value to the refused one, joined by dots.
  public internal(set) var path: String

  /// The refused value, its place and the next step, in one line.
  public var description: String {
    let location = path.isEmpty ? "" : " at \(path)"
    return switch reason {
    case .notFinite(let value):
      "cannot write JSON\(location): \(value) is not a finite number; store null or a string instead"
    case .tooDeep(let limit):
      "cannot write JSON\(location): nested deeper than \(limit) levels; flatten the value"
    }
  }

  func below(_ part: String) -> JSONWriteError {
    var copy = self
    copy.path = path.isEmpty ? part : "\(part).\(path)"
    return copy
  }
}

extension JSONWriteError: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { description }
}
