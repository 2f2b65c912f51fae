import Foundation
import LodestoreBytes

@testable import EntityStore
@testable import LodestoreFormat

/// A value in the form that conditions see: a scalar, or the content of a document.
indirect enum Fact {
  /// A scalar; documents are the other cases.
  case value(Value)
  case list([Fact])
  case object([String: Fact])

  static var null: Fact { .value(.null) }

  init(_ value: Value) throws {
    guard case .document(let bytes) = value else {
      self = .value(value)
      return
    }
    self.init(try bytes._withBytes { try JSONValue(anyDocument: $0) })
  }

  init(_ json: JSONValue) {
    switch json {
    case .null: self = .null
    case .bool(let flag): self = .value(.bool(flag))
    case .integer(let number): self = .value(.integer(number))
    case .unsigned(let number): self = .value(.integer(unsigned: number))
    case .double(let number): self = .value(.double(number))
    case .string(let text): self = .value(.string(text))
    case .array(let elements): self = .list(elements.map { Fact($0) })
    case .object(let members): self = .object(members.mapValues { Fact($0) })
    }
  }

  var isNull: Bool {
    if case .value(.null) = self { return true }
    return false
  }

  /// The elements of a collection; `nil` for a scalar.
  var elements: [Fact]? {
    switch self {
    case .value: nil
    case .list(let elements): elements
    case .object(let members): Array(members.values)
    }
  }

  var scalar: Value? {
    if case .value(let value) = self { return value }
    return nil
  }
}

/// One record as facts.
struct FactRecord {
  var id: UInt64
  var facts: [String: Fact]
}
