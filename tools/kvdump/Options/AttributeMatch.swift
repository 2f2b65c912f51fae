import ArgumentParser

/// A condition of `get`, such as `name=AFNetworking`.
///
/// A number alone is the id of a record.
///
/// The value stays text here, because only the store's schema knows the attribute's type.
struct AttributeMatch: ExpressibleByArgument, Equatable, Sendable {
  let attribute: String
  let value: String

  /// Splits at the first equals sign.
  ///
  /// The value may be empty, but the name may not be empty.
  init?(argument: String) {
    if UInt64(argument) != nil {
      attribute = RecordColumns.idName
      value = argument
      return
    }
    guard let sign = argument.firstIndex(of: "="), sign != argument.startIndex else { return nil }
    attribute = String(argument[..<sign])
    value = String(argument[argument.index(after: sign)...])
  }
}
