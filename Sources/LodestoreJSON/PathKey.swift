/// A coding key built from decoded content: the name of a member, or the position of an element.
package struct PathKey: CodingKey {
  package let stringValue: String
  package let intValue: Int?

  package init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  package init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }

  package static let superclass = PathKey(stringValue: "super")
}

extension [any CodingKey] {
  /// The path in dotted form, such as `address.lines.0`.
  package var dotted: String {
    map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }
}

extension DecodingError.Context {
  /// Makes an error: the value at a path and byte offset is not what a type expects.
  package init(
    _ path: [any CodingKey], atByte offset: Int, found: String, expected: String,
    _ cause: (any Error)?
  ) {
    let name = path.dotted
    self.init(
      codingPath: path,
      debugDescription: "cannot decode \(name.isEmpty ? "the value" : name) at byte "
        + "\(offset): found \(found), expected \(expected)",
      underlyingError: cause)
  }
}
