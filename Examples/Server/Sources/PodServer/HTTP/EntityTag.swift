import Foundation
import HTTPTypes
import Lodestore

/// A tag that distinguishes the states of a resource.
///
/// The tag comes from the store's own notes of changes, so the resource need not be read. A podspec
/// has the date of its last change, a list has the place in the history.
struct EntityTag: Hashable, Sendable, CustomStringConvertible {
  /// With its quotes, as a header field has it.
  let description: String

  /// Raised when the same records are answered in another form.
  private static let form = 1

  private init(_ parts: String...) {
    description = "\"\(Self.form)-\(parts.joined(separator: "-"))\""
  }

  /// The tag of one podspec.
  ///
  /// Its links are included, because its requirements are also an attribute.
  init(_ id: Podspec.ID, changedAt: Date) {
    let bits = changedAt.timeIntervalSinceReferenceDate.bitPattern
    self.init(String(id.rawValue, radix: 36), String(bits, radix: 36))
  }

  init(_ spec: Podspec) { self.init(spec.id, changedAt: spec.changedAt) }

  /// The tag of whatever is made of many records: each write changes it.
  init(_ token: HistoryToken) {
    self.init(String(token.storeID.uuidString.prefix(8)), String(token.number, radix: 36))
  }
}

/// The conditions of a request for an answer, or of a write.
struct Preconditions: Sendable {
  /// The content of a header field: tags, or any state.
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
  /// Weak tags count, as for all reads.
  func isNotModified(_ tag: EntityTag) -> Bool {
    switch ifNoneMatch {
    case .any: true
    case .these(let strong, let weak):
      strong.contains(tag.description) || weak.contains(tag.description)
    case nil: false
    }
  }

  /// Throws unless the client knows the state that it overwrites; the tag is `nil` if there is
  /// none.
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
