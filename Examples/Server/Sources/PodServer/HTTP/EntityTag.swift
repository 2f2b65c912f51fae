import Foundation
import HTTPTypes
import Lodestore

/// A tag that distinguishes the states of a resource.
///
/// The tag is made of facts that the store records about changes, so the resource need not be read.
/// A podspec's tag has the time of its last change. A list's tag has the position in the history.
struct EntityTag: Hashable, Sendable, CustomStringConvertible {
  /// The tag in quotes, as in a header field.
  let description: String

  /// A number to raise when the same records are answered in another form.
  private static let form = 1

  private init(_ parts: String...) {
    description = "\"\(Self.form)-\(parts.joined(separator: "-"))\""
  }

  /// The tag of one podspec.
  ///
  /// A change of its links changes the tag too, because the requirements are also an attribute.
  init(_ id: Podspec.ID, changedAt: Date) {
    let bits = changedAt.timeIntervalSinceReferenceDate.bitPattern
    self.init(String(id.rawValue, radix: 36), String(bits, radix: 36))
  }

  init(_ spec: Podspec) { self.init(spec.id, changedAt: spec.changedAt) }

  /// The tag of an answer made of many records.
  ///
  /// Each write changes the tag.
  init(_ token: HistoryToken) {
    self.init(String(token.storeID.uuidString.prefix(8)), String(token.number, radix: 36))
  }
}

/// The conditions in a request's header fields.
struct Preconditions: Sendable {
  /// The content of such a header field: a list of tags, or `*` for any state.
  enum Tags: Sendable {
    case any
    case these(strong: Set<String>, weak: Set<String>)

    init?(_ field: String?) {
      guard let field else { return nil }
      if field.trimmingCharacters(in: .whitespaces) == "*" {
        self = .any
        return
      }
      var (strong, weak): (Set<String>, Set<String>) = ([], [])
      for match in field.matches(of: /(W\/)?("[^"]*")/) {
        if match.1 == nil { strong.insert(String(match.2)) } else { weak.insert(String(match.2)) }
      }
      self = .these(strong: strong, weak: weak)
    }
  }

  private let ifMatch: Tags?
  private let ifNoneMatch: Tags?

  init(_ headers: HTTPFields) {
    ifMatch = Tags(headers[.ifMatch])
    ifNoneMatch = Tags(headers[.ifNoneMatch])
  }

  /// Whether the client has this state already.
  ///
  /// Weak tags match too, as HTTP demands for reads.
  func isNotModified(_ tag: EntityTag) -> Bool {
    switch ifNoneMatch {
    case .any: true
    case .these(let strong, let weak):
      strong.contains(tag.description) || weak.contains(tag.description)
    case nil: false
    }
  }

  /// Throws an error unless the client's conditions allow it to overwrite this state.
  ///
  /// - Parameter tag: The tag of the stored state; `nil` if the resource does not exist.
  func checkWrite(over tag: EntityTag?) throws(Problem) {
    switch (ifMatch, tag) {
    case (.any, .some): break
    case (.these(let strong, _), .some(let tag)) where strong.contains(tag.description): break
    case (.some, .some):
      throw Problem(
        .preconditionFailed, "Changed meanwhile",
        "Somebody has changed this since it was read. Read it again, and send its new ETag as "
          + "If-Match.")
    case (.some, nil):
      throw Problem(
        .preconditionFailed, "Gone meanwhile",
        "There is no such podspec any more. To make it, send If-None-Match: * instead of If-Match.")
    case (nil, .some):
      if case .any = ifNoneMatch {
        throw Problem(
          .preconditionFailed, "Already there",
          "There is such a podspec. To replace it, send its ETag as If-Match.")
      }
      throw Self.required
    case (nil, nil):
      guard case .any = ifNoneMatch else { throw Self.required }
    }
  }

  private static let required = Problem(
    .preconditionRequired, "Precondition required",
    "A write must say what it overwrites. Send If-None-Match: * to make a podspec, or the ETag of "
      + "the one that you have read as If-Match.")
}
