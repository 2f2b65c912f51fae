import LodestoreFormat

extension AttributeType {
  /// The Swift type of the values; `nil` for documents and ids, which need more than the type.
  var swiftName: String? {
    switch self {
    case .bool: "Bool"
    case .int8: "Int8"
    case .int16: "Int16"
    case .int32: "Int32"
    case .int64: "Int"
    case .uint8: "UInt8"
    case .uint16: "UInt16"
    case .uint32: "UInt32"
    case .uint64: "UInt"
    case .float: "Float"
    case .double: "Double"
    case .date: "Date"
    case .uuid: "UUID"
    case .decimal: "Decimal"
    case .string: "String"
    case .url: "URL"
    case .data: "Data"
    case .json: "JSONValue"
    case .document, .recordID: nil
    }
  }
}

/// The Codable structs of an entity's documents.
///
/// A struct has the name of the type that a program declared. The struct is nested in the entity,
/// so structs of two entities may have one name. Types inside it get names from their members,
/// because the file does not have their names.
struct DocumentTypes {
  /// A nested struct: its name, and its properties in order.
  struct Structure {
    var name: String
    var kind: DocumentOutline.Kind
    var members: [(name: String, property: String, type: String)]
  }

  private(set) var structures: [Structure] = []
  private var taken: Set<String>

  init(taken: Set<String>) { self.taken = taken }

  /// The type of an attribute's documents.
  ///
  /// - Throws: ``Inexpressible`` with the reason why no type has such documents.
  mutating func type(_ attribute: EntityDescription.Attribute) throws(Inexpressible) -> String {
    guard let outline = attribute.members else {
      throw Inexpressible("the file does not describe the members of \(attribute.shape ?? "it")")
    }
    let type = try type(outline, shape: attribute.shape, member: attribute.name)
    guard type == Self.spelling(attribute.shape ?? "") else {
      throw Inexpressible("its type \(attribute.shape ?? "") codes its values in its own way")
    }
    return type
  }

  private mutating func type(
    _ outline: DocumentOutline, shape: String?, member: String
  ) throws(Inexpressible) -> String {
    switch outline.kind {
    case .any: return "JSONValue"
    case .scalar(let type): return type.swiftName ?? "JSONValue"
    case .array(let element):
      return "[\(try optional(element, shape.flatMap { Self.argument(of: $0, "Array<") }, member))]"
    case .map(let value):
      let shape = shape.flatMap { Self.argument(of: $0, "Dictionary<String, ") }
      return "[String: \(try optional(value, shape, member))]"
    case .object(let members, let isOpen):
      guard !isOpen else {
        throw Inexpressible("its type \(shape ?? member) decodes members that are not known")
      }
      let known = structures.first { $0.kind == outline.kind && $0.name == shape ?? $0.name }
      if let known { return known.name }
      let name = shape ?? SwiftNames.type(member, taken: taken)
      guard EntityDescription.isValidName(name), !taken.contains(name) else {
        throw Inexpressible("its type \(name) cannot be declared a second time, or is generic")
      }
      taken.insert(name)
      structures.append(Structure(name: name, kind: outline.kind, members: []))
      let place = structures.count - 1
      let names = Set(members.map(\.name))
      var properties: [(name: String, property: String, type: String)] = []
      for member in members where !member.isRemoved {
        let property = Self.property(member.name, taken: names.union(properties.map(\.property)))
        let type = try optional(member.value, nil, member.name)
        properties.append((member.name, property, type))
      }
      structures[place].members = properties
      return name
    }
  }

  private mutating func optional(
    _ outline: DocumentOutline, _ shape: String?, _ member: String
  ) throws(Inexpressible) -> String {
    let inner = outline.isOptional ? shape.flatMap { Self.argument(of: $0, "Optional<") } : shape
    return try type(outline, shape: inner, member: member) + (outline.isOptional ? "?" : "")
  }

  private static func property(_ name: String, taken: Set<String>) -> String {
    if EntityDescription.isValidName(name), !SwiftNames.refused.contains(name) { return name }
    let words = name.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
    var property = String(words.joined(separator: "_").prefix(40))
    if property.first?.isLetter != true || SwiftNames.refused.contains(property) {
      property = "member_" + property
    }
    while taken.contains(property) { property += "_" }
    return property
  }

  /// The text between `prefix` and the last angle bracket.
  private static func argument(of shape: String, _ prefix: String) -> String? {
    guard shape.hasPrefix(prefix), shape.hasSuffix(">") else { return nil }
    return String(shape.dropFirst(prefix.count).dropLast())
  }

  /// The shape as Swift source writes it: `Array<Int>` as `[Int]`.
  private static func spelling(_ shape: String) -> String {
    if let element = argument(of: shape, "Array<") { return "[\(spelling(element))]" }
    if let value = argument(of: shape, "Dictionary<String, ") {
      return "[String: \(spelling(value))]"
    }
    if let wrapped = argument(of: shape, "Optional<") { return spelling(wrapped) + "?" }
    return shape
  }

  // MARK: Values

  /// A document as an expression of the type for `outline`; `nil` if no expression has it.
  func literal(_ document: Document, _ outline: DocumentOutline, _ type: String) -> String? {
    let type = outline.isOptional && type.hasSuffix("?") ? String(type.dropLast()) : type
    // The macros do not accept 'nil' within a value.
    if document == .null, outline.isOptional { return ".none" }
    switch (outline.kind, document) {
    case (.any, _): return SwiftLiteral.json(document)
    case (.scalar, .bool(let flag)): return SwiftLiteral.value(.bool(flag))
    case (.scalar, .integer(let number)): return "\(number)"
    case (.scalar, .unsigned(let number)): return "\(number)"
    case (.scalar, .double(let number)): return SwiftLiteral.double(number)
    case (.scalar(.string), .string(let text)): return SwiftLiteral.text(text)
    case (.scalar, .date(let seconds)): return SwiftLiteral.value(.date(seconds))
    case (.scalar, .data(let bytes)): return SwiftLiteral.value(.data(bytes))
    case (.array(let element), .array(let elements)):
      let inner = String(type.dropFirst().dropLast())
      return SwiftLiteral.list(elements) { literal($0, element, inner) }
    case (.map(let value), .object(let members)):
      let inner = String(type.dropFirst("[String: ".count).dropLast())
      return SwiftLiteral.dictionary(members) { literal($0, value, inner) }
    case (.object(let outlines, _), .object(let members)):
      guard let structure = structures.first(where: { $0.name == type }) else { return nil }
      let arguments = SwiftLiteral.list(structure.members) { member in
        let outline = outlines.first { $0.name == member.name }?.value
        return outline.flatMap { literal(members[member.name] ?? .null, $0, member.type) }
          .map { "\(SwiftNames.label(member.property)): \($0)" }
      }
      return arguments.map { "\(type)(\($0.dropFirst().dropLast()))" }
    default: return nil
    }
  }
}

/// The reason why Swift source cannot declare a part of a schema.
struct Inexpressible: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
