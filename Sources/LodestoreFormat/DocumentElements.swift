import LodestoreBytes

/// The elements of documents that an element index has entries for.
///
/// See Format.md, "Indexes over elements".
package enum DocumentElements {
  /// Visits the scalars at `path` in the document `bytes`.
  ///
  /// The scalars are the elements of an array, the values of an object's members, or the value
  /// itself.
  package static func forEach(
    at path: [String], of bytes: ByteView,
    _ body: (ByteView) throws(FormatError) -> Void
  ) throws(FormatError) {
    try follow(path[...], bytes, isElement: false, body)
  }

  /// - Parameter isElement: Whether `bytes` is already an element, of an array or of an object at
  ///   the end of the path. Arrays and objects within an element are skipped.
  private static func follow(
    _ path: ArraySlice<String>, _ bytes: ByteView, isElement: Bool,
    _ body: (ByteView) throws(FormatError) -> Void
  ) throws(FormatError) {
    var reader = DocumentReader(bytes)
    switch try reader.kind() {
    case .null: return
    case .array:
      if isElement { return }
      let (count, _) = try reader.enterArray()
      for _ in 0..<count { try follow(path, try reader.value(), isElement: true, body) }
    case .object:
      guard let name = path.first else {
        if isElement { return }
        let (count, _) = try reader.enterObject()
        for _ in 0..<count {
          _ = try reader.name()
          try follow(path, try reader.value(), isElement: true, body)
        }
        return
      }
      guard let member = try DocumentReader.member(named: name, in: bytes) else { return }
      try follow(path.dropFirst(), member, isElement: isElement, body)
    default: if path.isEmpty { try body(bytes) }
    }
  }

  /// Encodes an element, a scalar, as a tuple; returns false for null, which has no entry.
  ///
  /// Integers and decimals are encoded as the nearest double, Booleans as 0 and 1.
  package static func encode(
    _ element: ByteView, into encoder: inout KeyEncoder
  ) throws(FormatError) -> Bool {
    encoder.reset()
    var reader = DocumentReader(element)
    if try reader.kind() == .text {
      encoder.append(text: try reader.text())
    } else {
      switch try DocumentMember.scalar(element) {
      case .null: return false
      case .bool(let flag): encoder.append(flag ? 1.0 : 0.0)
      case .integer(let number): encoder.append(Double(number))
      case .unsigned(let number): encoder.append(Double(number))
      case .decimal(let decimal): encoder.append(decimal.nearestDouble)
      case let value: try encoder.append(value)
      }
    }
    encoder.finishTuple()
    return true
  }

  /// The tuples of the elements' index keys, each once, in ascending order.
  package static func keys(at path: [String], of bytes: ByteView) throws(FormatError) -> [[UInt8]] {
    var keys: Set<[UInt8]> = []
    var encoder = KeyEncoder()
    try forEach(at: path, of: bytes) { (element) throws(FormatError) in
      if try encode(element, into: &encoder) { keys.insert(Array(encoder.bytes)) }
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }
}
