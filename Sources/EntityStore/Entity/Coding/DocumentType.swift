/// A type whose values are stored as documents, or are inside of them, with the members that are
/// known before a document is read.
struct DocumentType {
  /// Where a step from a value leads.
  enum Step {
    /// To a value; of which type is `nil` where only the document can tell.
    case value(DocumentType?)
    /// Nowhere: `type` has no such member, but those `known`; nil where it has none at all.
    case nowhere(in: DocumentType, known: [String]?)
  }

  let type: any Decodable.Type

  init(_ type: any Decodable.Type) { self.type = type }

  var name: String { "\(type)" }

  /// The elements of an array or a set.
  var element: DocumentType? {
    if let type = type as? any WrappingDocumentType.Type { return type.wrapped?.element }
    return (type as? any ListDocumentType.Type)?.element
  }

  /// Whether the type is that of optional values.
  var isWrapping: Bool { type is any WrappingDocumentType.Type }

  /// The type of the values that are not null.
  var wrapped: DocumentType? { (type as? any WrappingDocumentType.Type)?.wrapped }

  /// The type of the values of a dictionary with names for keys.
  var mapValue: DocumentType? { (type as? any MapDocumentType.Type)?.value }

  /// The member `name`; of an array that of each element.
  func member(_ name: String) -> Step {
    if let type = type as? any WrappingDocumentType.Type {
      return type.wrapped?.member(name) ?? .value(nil)
    }
    if let element { return element.member(name) }
    if let type = type as? any MapDocumentType.Type { return .value(type.value) }
    if type is JSONValue.Type { return .value(nil) }
    if type is any DocumentValue.Type { return .nowhere(in: self, known: nil) }
    let members = DocumentTypeMembers(of: type)
    guard members.areKnown else { return .value(nil) }
    guard members.contains(name) else { return .nowhere(in: self, known: members.names) }
    return .value(members.types[name]?.map(DocumentType.init))
  }
}

// MARK: The standard library's

private protocol WrappingDocumentType {
  static var wrapped: DocumentType? { get }
}

extension Optional: WrappingDocumentType {
  fileprivate static var wrapped: DocumentType? {
    (Wrapped.self as? any Decodable.Type).map(DocumentType.init)
  }
}

private protocol ListDocumentType {
  static var element: DocumentType? { get }
}

extension Array: ListDocumentType where Element: Decodable {
  fileprivate static var element: DocumentType? { DocumentType(Element.self) }
}

extension ContiguousArray: ListDocumentType where Element: Decodable {
  fileprivate static var element: DocumentType? { DocumentType(Element.self) }
}

extension Set: ListDocumentType where Element: Decodable {
  fileprivate static var element: DocumentType? { DocumentType(Element.self) }
}

/// A dictionary: any name may be that of a member.
private protocol MapDocumentType {
  static var value: DocumentType? { get }
}

extension Dictionary: MapDocumentType where Key: Decodable, Value: Decodable {
  fileprivate static var value: DocumentType? {
    Key.self == String.self ? DocumentType(Value.self) : nil
  }
}
