internal import LodestoreFormat

// Errors for a stored record whose values cannot be read as the program's type.

extension StoreError {
  /// - Parameter reason: the fault in the attribute's value, or in the record as a whole when
  ///   `attribute` is `nil`.
  static func undecodable(
    entity: String, recordID: UInt64, attribute: String?, reason: String, cause: (any Error)? = nil
  ) -> StoreError {
    let place = attribute.map { "attribute '\($0)': " } ?? ""
    return StoreError(
      .undecodableValue,
      "cannot read \(entity) \(recordID): \(place)\(reason); compare the type with 'kvdump schema'",
      cause: cause, entity: entity, attribute: attribute, recordID: recordID)
  }

  /// The error for a raw value that no case of an enumeration has.
  ///
  /// Only this message shows a stored value, so that the reader can see which case is missing. The
  /// value is the raw value of a case in some version of the program, and not a user's data.
  static func unknownCase(
    entity: String, recordID: UInt64, attribute: String?, value: Value,
    of cases: any EnumerationCases
  ) -> StoreError {
    let name = attribute.map { "attribute '\($0)'" } ?? "an attribute"
    let known = (cases.rawValues ?? []).map { KeyText.detail(of: $0.value) }
    let list =
      known.isEmpty
      ? "" : " (\(known.prefix(10).joined(separator: ", "))\(known.count > 10 ? ", …" : ""))"
    var text = KeyText.detail(of: value)
    if case .string = value { text = "\"\(text)\"" }
    return StoreError(
      .undecodableValue,
      "cannot read \(entity) \(recordID): \(name) is \(text), no case of \(cases.name)\(list); add the "
        + "case, or give the record another value, as with 'kvdump update'",
      entity: entity, attribute: attribute, recordID: recordID)
  }
}

extension DecodingError {
  /// The fault in one line, without the name of the type.
  var reason: String {
    switch self {
    case .keyNotFound(let key, let context):
      "cannot decode \((context.codingPath + [key]).dotted): it is absent, and required"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      context.debugDescription
    @unknown default: "\(self)"
    }
  }
}
