/// A record in JSON: an object, a keyed object or a row.
///
/// A keyed object is the value of a member, and its key is the name of this member. A row belongs
/// to a table with named columns.
package enum JSONRecord: Sendable {
  case object(JSONNode)
  case member(keyName: String, value: JSONNode)
  case row(names: [String], values: JSONNode)

  /// The record's own value in the text.
  package var node: JSONNode {
    switch self {
    case .object(let node), .member(_, let node), .row(_, let node): node
    }
  }

  /// The reason why the value is not a record; `nil` when it is one.
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
  /// - Returns: the reason why this is not a record, before any member is visited; `nil` when it is
  ///   one.
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
  /// The column names, if the value is an array of different texts; otherwise `nil`.
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

  /// The rejection of a record with a faulty value; nil when all of its values can be read.
  ///
  /// Faulty values are, for example, half of a surrogate pair or a repeated key.
  var faultRejection: RecordRejection? {
    guard document.hasFaults, let fault else { return nil }
    var rejection = RecordRejection("cannot read JSON: \(fault.words)", offset: fault.offset)
    rejection.content = withSourceBytes { Array($0.prefix(UnreadableInput.keptBytes)) }
    return rejection
  }
}

/// The reason for rejecting a record, and its offset in the text.
struct RecordRejection: Error, Sendable, Hashable {
  var reason: String
  /// The attribute with the fault; `nil` for the record as a whole.
  var attribute: String?
  /// The offset in bytes from the start of the file.
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
