/// The reason why an address leads to no page.
enum AddressError: Error, Equatable {
  /// The text is no address.
  case malformed
  /// No page has this path.
  case unknownPath(String)
  case unknownParameter(String)
  case badParameter(String, String)
  case badPlace(String)
  /// The store has no such entity, record, index or relationship.
  case notFound(String)

  var message: String {
    switch self {
    case .malformed: "the address is not valid; its escapes must be complete and in UTF-8"
    case .unknownPath(let path): "no page has the path '\(path)'; begin at '/'"
    case .unknownParameter(let name):
      "the page has no parameter '\(name)'; leave it out, or write an attribute's name"
    case .badParameter(let name, let value):
      "the parameter '\(name)' cannot be '\(value)'; use a number from 1"
    case .badPlace(let text):
      "'\(text)' is no place; write degrees north and east and a distance, as 54.8,61.1,500km, or "
        + "an area as south,west,north,east"
    case .notFound(let message): message
    }
  }
}
