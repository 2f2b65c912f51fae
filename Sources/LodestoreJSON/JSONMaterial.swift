/// Builds whole values from a tape.
///
/// The functions are recursive. The parser's limit on depth bounds the recursion.
enum JSONMaterial {
  static func value(_ document: JSONDocument, _ index: Int) -> JSONValue {
    let entry = document.entries[index]
    switch entry.kind {
    case .null: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .integer: return integer(document.bytes(ofEntry: index))
    case .real: return .double(JSONNumber.double(document.bytes(ofEntry: index)))
    case .string: return .string(JSONStringContent.string(entry, document.text))
    case .array: return .array(elements(document, index, value))
    case .object: return .object(members(document, index, value))
    }
  }

  /// The elements of an array, each built by a closure.
  @inline(__always)
  static func elements<Element>(
    _ document: JSONDocument, _ index: Int, _ make: (JSONDocument, Int) throws -> Element
  ) rethrows -> [Element] {
    let entry = document.entries[index]
    var elements: [Element] = []
    elements.reserveCapacity(entry.childCount)
    var child = index + 1
    while child < Int(entry.link) {
      elements.append(try make(document, child))
      child = document.next(after: child)
    }
    return elements
  }

  /// The members of an object, each value built by a closure.
  @inline(__always)
  static func members<Value>(
    _ document: JSONDocument, _ index: Int, _ make: (JSONDocument, Int) throws -> Value
  ) rethrows -> [String: Value] {
    let entry = document.entries[index]
    if entry.childCount == 0 { return [:] }
    var members: [String: Value] = [:]
    members.reserveCapacity(entry.childCount)
    var child = index + 1
    while child < Int(entry.link) {
      let key = JSONStringContent.string(document.entries[child], document.text)
      members[key] = try make(document, child + 1)
      child = document.next(after: child + 1)
    }
    return members
  }

  private static func integer(_ text: JSONNumber.Text) -> JSONValue {
    if let value = JSONNumber.int64(text) { return .integer(value) }
    // An integer beyond 64 bits occurs only with ``JSONLimits/notesFaults``, and is approximated
    // here. Callers find it with `wideNumber`.
    return JSONNumber.uint64(text).map(JSONValue.unsigned) ?? .double(JSONNumber.double(text))
  }
}
