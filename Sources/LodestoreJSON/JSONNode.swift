import LodestoreBytes

/// A value of a parsed text.
///
/// The node is a handle that retains the document; it builds values on request.
package struct JSONNode: Sendable {
  /// The kind of a value.
  package enum Kind: Sendable, Hashable {
    /// `integer`: digits only. `double`: with a fraction or an exponent, even if the value is
    /// integral.
    case null, bool, integer, double, string, array, object
  }

  package let document: JSONDocument
  package let index: Int

  package init(document: JSONDocument, index: Int) {
    self.document = document
    self.index = index
  }

  var entry: JSONTapeEntry { document.entries[index] }

  package var kind: Kind {
    switch entry.kind {
    case .null: .null
    case .false, .true: .bool
    case .integer: .integer
    case .real: .double
    case .string: .string
    case .array: .array
    case .object: .object
    }
  }

  /// The kind in words, for messages: "a string", "an object".
  package var kindName: String { entry.kind.name }

  /// The offset of the value's first byte in the file.
  package var offset: Int { document.origin.offset + document.offset(ofEntry: index) }

  /// Line and column of the value; O(bytes before it).
  package var position: JSONPosition { document.position(ofEntry: index) }

  /// The number of elements of an array or members of an object; 0 for all other kinds.
  package var count: Int { entry.isContainer ? entry.childCount : 0 }

  package var isNull: Bool { entry.kind == .null }

  package var bool: Bool? {
    switch entry.kind {
    case .true: true
    case .false: false
    default: nil
    }
  }

  package var string: String? {
    entry.kind == .string ? JSONStringContent.string(entry, document.text) : nil
  }

  /// The number if it is exactly an `Int64`: `5`, `5.0` and `5e0` are 5.
  package var int64: Int64? { isNumber ? JSONNumber.int64(rawText) : nil }

  /// The number if it is exactly a `UInt64`.
  package var uint64: UInt64? { isNumber ? JSONNumber.uint64(rawText) : nil }

  /// The double nearest to the number.
  package var double: Double? { isNumber ? JSONNumber.double(rawText) : nil }

  /// The digits of the number as written in the text.
  package var numberText: String? { isNumber ? String(decoding: rawText, as: UTF8.self) : nil }

  /// Calls a closure with the bytes of the value as written in the text, including quotes.
  package func withSourceBytes<R>(_ body: (ByteView) throws -> R) rethrows -> R {
    let start = document.offset(ofEntry: index)
    let quotes = entry.kind == .string ? 2 : 0
    return try withExtendedLifetime(document) {
      try body(document.text[start..<start + Int(entry.length) + quotes])
    }
  }

  private var isNumber: Bool { entry.kind == .integer || entry.kind == .real }
  private var rawText: ByteView { document.bytes(ofEntry: index) }
}

// MARK: - Content

extension JSONNode {
  /// The elements of an array, in order; empty for all other kinds.
  package var elements: JSONElements { JSONElements(self, of: .array) }

  /// The values of an object's members, in the order of the text; empty for all other kinds.
  package var memberValues: JSONElements { JSONElements(self, of: .object) }

  /// The members of an object, in the order of the text; empty for all other kinds.
  package var members: JSONMembers { JSONMembers(self) }

  /// The member of an object by its key; O(members).
  package subscript(key: String) -> JSONNode? {
    guard entry.kind == .object else { return nil }
    return JSONKeySearch.find(key, in: document, object: index).map { self.at($0 + 1) }
  }

  /// The element of an array by its position; O(position).
  package subscript(position: Int) -> JSONNode? {
    guard entry.kind == .array, position >= 0, position < count else { return nil }
    var child = index + 1
    for _ in 0..<position { child = document.next(after: child) }
    return at(child)
  }

  /// The value at a dotted path, as in `JSONValue.subscript(path:)`: the empty path is the value
  /// itself, and digits name an element of an array.
  package subscript(path path: String) -> JSONNode? {
    if path.isEmpty { return self }
    var node = self
    for part in path.split(separator: ".", omittingEmptySubsequences: false) {
      let next =
        node.kind == .array
        ? JSONPathPart.index(part).flatMap { node[$0] } : node[String(part)]
      guard let next else { return nil }
      node = next
    }
    return node
  }

  /// The key of a member's value, as a string node.
  ///
  /// For the element of an array, the result is meaningless.
  package var memberKey: JSONNode { at(index - 1) }

  /// The value and everything within it.
  package var jsonValue: JSONValue { JSONMaterial.value(document, index) }

  func at(_ index: Int) -> JSONNode { JSONNode(document: document, index: index) }
}

/// The elements of an array, or the values of an object's members.
package struct JSONElements: Sequence, IteratorProtocol {
  private let document: JSONDocument
  private var cursor: Int
  private let end: Int
  /// The number of entries before each value: 1 for the key of a member.
  private let lead: Int

  fileprivate init(_ node: JSONNode, of kind: JSONNode.Kind) {
    document = node.document
    lead = kind == .object ? 1 : 0
    cursor = node.index + 1
    end = node.kind == kind ? Int(node.entry.link) : 0
  }

  package mutating func next() -> JSONNode? {
    guard cursor < end else { return nil }
    let value = cursor + lead
    cursor = document.next(after: value)
    return JSONNode(document: document, index: value)
  }
}

/// The members of an object.
package struct JSONMembers: Sequence, IteratorProtocol {
  private let document: JSONDocument
  private var cursor: Int
  private let end: Int

  init(_ node: JSONNode) {
    document = node.document
    cursor = node.index + 1
    end = node.kind == .object ? Int(node.entry.link) : 0
  }

  package mutating func next() -> (key: String, value: JSONNode)? {
    guard cursor < end else { return nil }
    let key = JSONStringContent.string(document.entries[cursor], document.text)
    let value = JSONNode(document: document, index: cursor + 1)
    cursor = document.next(after: cursor + 1)
    return (key, value)
  }
}

extension JSONTapeKind {
  /// The kind in words.
  var name: String {
    switch self {
    case .null: "null"
    case .false, .true: "a Boolean"
    case .integer: "an integer"
    case .real: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
