internal import LodestoreRows

/// An attribute of an element.
///
/// Names come from the source code, and values are escaped. An attribute with an address can only
/// lead to a page of the inspector.
struct HTMLAttribute: Sendable {
  private let name: String
  private let value: String?

  private init(_ name: String, _ value: String?) {
    self.name = name
    self.value = value
  }

  /// Attributes whose values are any text.
  enum TextName: String {
    case ariaCurrent = "aria-current"
    case ariaDescribedBy = "aria-describedby"
    case ariaInvalid = "aria-invalid"
    case ariaLabel = "aria-label"
    case ariaLabelledBy = "aria-labelledby"
    case ariaSort = "aria-sort"
    case colspan
    case commit = "data-commit"
    case datetime
    case faultEnd = "data-fault-end"
    case faultStart = "data-fault-start"
    case `for`
    case id, list, name, placeholder, role, scope, title, value
    case wait = "data-wait"
  }

  /// Attributes without a value.
  enum FlagName: String {
    case autofocus, checked, hidden, open, selected
  }

  static func text(_ name: TextName, _ value: String) -> HTMLAttribute {
    HTMLAttribute(name.rawValue, value)
  }

  static func flag(_ name: FlagName) -> HTMLAttribute { HTMLAttribute(name.rawValue, nil) }

  /// The classes of the element, with spaces between them.
  static func `class`(_ names: StaticString) -> HTMLAttribute {
    HTMLAttribute("class", names.description)
  }

  static func href(_ address: Address) -> HTMLAttribute { HTMLAttribute("href", address.text) }

  /// The address of a file of this server.
  static func source(_ address: Address) -> HTMLAttribute { HTMLAttribute("src", address.text) }

  /// The address that receives a form.
  static func action(_ address: Address) -> HTMLAttribute { HTMLAttribute("action", address.text) }

  /// An attribute with a constant value, such as the type of an input.
  static func constant(_ name: StaticString, _ value: StaticString) -> HTMLAttribute {
    HTMLAttribute(name.description, value.description)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: " "))
    bytes.append(contentsOf: name.utf8)
    guard let value else { return }
    bytes.append(contentsOf: "=\"".utf8)
    VisibleText.appendExactly(value, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }
}
