/// A type whose values are documents or parts of documents, with the members known before reading
/// one.
struct DocumentType {
  /// The result of looking up a member by its name in a type.
  enum Step {
    /// A value; its type is `nil` when only the document can tell.
    case value(DocumentType?)
    /// No member: `type` has only the members `known`, or none at all when `known` is nil.
    case nowhere(in: DocumentType, known: [String]?)
  }

  let type: any Decodable.Type

  init(_ type: any Decodable.Type) { self.type = type }

  var name: String { "\(type)" }

  /// The type of the elements of an array or a set.
  var element: DocumentType? {
    if let type = type as? any WrappingDocumentType.Type { return type.wrapped?.element }
    return (type as? any ListDocumentType.Type)?.element
  }

  /// Whether the type is `Optional`.
  var isWrapping: Bool { type is any WrappingDocumentType.Type }

  /// The type wrapped by `Optional`.
  var wrapped: DocumentType? { (type as? any WrappingDocumentType.Type)?.wrapped }

  /// The type of the values of a dictionary whose keys are member names.
  var mapValue: DocumentType? { (type as? any MapDocumentType.Type)?.value }

  /// Looks up the member `name`; for an array, the member of its elements.
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

// MARK: Types of the standard library

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

/// A dictionary, in which any name may be a member.
private protocol MapDocumentType {
  static var value: DocumentType? { get }
}

extension Dictionary: MapDocumentType where Key: Decodable, Value: Decodable {
  fileprivate static var value: DocumentType? {
    Key.self == String.self ? DocumentType(Value.self) : nil
  }
}
