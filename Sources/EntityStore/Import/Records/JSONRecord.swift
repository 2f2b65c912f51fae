/// A record as it comes in JSON: an object, the value of a member whose key it has under a name, or
/// a row of a table whose columns are named once.
package enum JSONRecord: Sendable {
  case object(JSONNode)
  case member(keyName: String, value: JSONNode)
  case row(names: [String], values: JSONNode)

  /// The record itself in its text.
  package var node: JSONNode {
    switch self {
    case .object(let node), .member(_, let node), .row(_, let node): node
    }
  }

  /// First byte of the record, from the start of its file.
  var offset: Int { node.offset }

  /// Why this is no record; `nil` when it is one.
  var rejection: RecordRejection? {
    switch self {
    case .object(let node), .member(_, let node):
      if node.kind == .object { return nil }
      return RecordRejection("the record is \(node.kindName), must be an object", at: node)
    case .row(let names, let node):
      if node.kind == .array, node.count == names.count { return nil }
      let found = node.kind == .array ? "\(node.count) values" : node.kindName
      return RecordRejection("the row has \(found), the fields are \(names.count)", at: node)
    }
  }

  /// Visits the members in the order of the text.
  ///
  /// - Returns: Why this is no record; `nil` when it is one, and only then all members were visited.
  func forEachMember(_ body: (String, JSONNode) -> Void) -> RecordRejection? {
    if let rejection { return rejection }
    switch self {
    case .object(let node), .member(_, let node):
      if case .member(let name, _) = self, node[name] == nil { body(name, node.memberKey) }
      for (name, value) in node.members { body(name, value) }
    case .row(let names, let node):
      for (name, value) in zip(names, node.elements) { body(name, value) }
    }
    return nil
  }
}

extension JSONNode {
  /// The names of columns, which an array of texts has that are all different.
  var columnNames: [String]? {
    guard kind == .array, count > 0 else { return nil }
    var names: [String] = []
    var seen: Set<String> = []
    for element in elements {
      guard let name = element.string, seen.insert(name).inserted else { return nil }
      names.append(name)
    }
    return names
  }

  /// Why a record with a value at fault, such as half of a surrogate pair or a key that comes
  /// twice, cannot be read; nil where all of its values can.
  var faultRejection: RecordRejection? {
    guard document.hasFaults, let fault else { return nil }
    var rejection = RecordRejection("cannot read JSON: \(fault.words)", offset: fault.offset)
    rejection.content = withSourceBytes { Array($0.prefix(UnreadableInput.keptBytes)) }
    return rejection
  }
}

/// Why a record was rejected, and the offset of the reason in its text.
struct RecordRejection: Error, Sendable, Hashable {
  var reason: String
  /// The attribute concerned; `nil` when it is the whole record.
  var attribute: String?
  /// Bytes from the start of the file.
  var offset: Int
  /// The first bytes of a record that could not be read.
  var content: [UInt8]?

  init(_ reason: String, attribute: String? = nil, offset: Int) {
    self.reason = reason
    self.attribute = attribute
    self.offset = offset
  }

  init(_ reason: String, attribute: String? = nil, at node: JSONNode) {
    self.init(reason, attribute: attribute, offset: node.offset)
  }
}
