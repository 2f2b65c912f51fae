/// Takes the known members out of one object of the catalogue.
///
/// A later version of the library wrote the remaining members.
struct CatalogueReader {
  private let members: [String: Document]
  /// The names of the members taken so far, each once.
  private var taken: [String] = []
  /// The unknown members of objects within this one.
  private(set) var unknown = UnknownMembers()

  /// Creates a reader of the members of `document`, which has no members if it is not an object.
  init(_ document: Document) {
    if case .object(let members) = document { self.members = members } else { members = [:] }
  }

  /// The members that have not been taken.
  var rest: [String: Document] {
    taken.count == members.count ? [:] : members.filter { !taken.contains($0.key) }
  }

  /// Takes the member `name`; `nil` if there is none.
  ///
  /// Call it once for each name.
  mutating func take(_ name: String) -> Document? {
    guard let member = members[name] else { return nil }
    taken.append(name)
    return member
  }

  mutating func text(_ name: String) throws(FormatError) -> String {
    guard let text = take(name)?.text else {
      throw FormatError("the catalogue has no text '\(name)' where one must be", .catalogueMembers)
    }
    return text
  }

  mutating func integer<Number: FixedWidthInteger>(
    _ name: String, upTo limit: Number = .max
  ) throws(FormatError) -> Number {
    guard case .integer(let value) = take(name), let number = Number(exactly: value),
      (1...limit).contains(number)
    else {
      throw FormatError(
        "the catalogue has no '\(name)' from 1 to \(limit) where one must be", .catalogueMembers)
    }
    return number
  }

  /// Takes a required member that is the number of an attribute.
  mutating func attribute(_ name: String) throws(FormatError) -> UInt32 {
    try integer(name, upTo: EntityDescription.highestAttributeNumber)
  }

  /// - Parameter subject: The object that has the member, for the error message.
  mutating func flag(
    _ name: String, of subject: @autoclosure () -> String, _ rule: FormatRule = .catalogueMembers
  ) throws(FormatError) -> Bool {
    guard case .bool(let flag) = take(name) else {
      throw FormatError("\(subject()) has no boolean '\(name)'", rule)
    }
    return flag
  }

  mutating func array(_ name: String) throws(FormatError) -> [Document] {
    guard case .array(let elements) = take(name) else {
      throw FormatError("the catalogue has no array '\(name)' where one must be", .catalogueMembers)
    }
    return elements
  }

  /// Reads an object with `read` and collects its unknown members.
  ///
  /// - Parameter object: Returns the identity of the object that `read` made, under which its
  ///   unknown members are collected.
  mutating func read<Value>(
    _ document: Document, as object: (Value) -> CatalogueObject,
    _ read: (inout CatalogueReader) throws(FormatError) -> Value
  ) throws(FormatError) -> Value {
    var reader = CatalogueReader(document)
    let value = try read(&reader)
    unknown.merge(reader.unknown)
    unknown[object(value)] = reader.rest
    return value
  }

  /// Reads each object of the required array `name`.
  mutating func list<Element>(
    _ name: String, as object: (Element) -> CatalogueObject,
    _ read: (inout CatalogueReader) throws(FormatError) -> Element
  ) throws(FormatError) -> [Element] {
    var list: [Element] = []
    for element in try array(name) { list.append(try self.read(element, as: object, read)) }
    return list
  }

  /// Reads each object of the array `name`; empty if the array is absent.
  mutating func optionalList<Element>(
    _ name: String, as object: (Element) -> CatalogueObject,
    _ read: (inout CatalogueReader) throws(FormatError) -> Element
  ) throws(FormatError) -> [Element] {
    members[name] == nil ? [] : try list(name, as: object, read)
  }

  /// Reads the object `name`; `nil` if it is absent.
  mutating func optional<Value>(
    _ name: String, as object: CatalogueObject,
    _ read: (inout CatalogueReader) throws(FormatError) -> Value
  ) throws(FormatError) -> Value? {
    guard let document = take(name) else { return nil }
    return try self.read(document, as: { _ in object }, read)
  }

  mutating func optionalInteger<Number: FixedWidthInteger>(
    _ name: String, upTo limit: Number = .max
  ) throws(FormatError) -> Number? {
    members[name] == nil ? nil : try integer(name, upTo: limit)
  }
}

extension Document {
  /// The text; `nil` for any other value.
  var text: String? { if case .string(let text) = self { text } else { nil } }

  /// The number of an entity, attribute or index; `nil` for any value other than a 32-bit number.
  var number: UInt32? { if case .integer(let value) = self { UInt32(exactly: value) } else { nil } }

  /// An array of numbers.
  static func numbers(_ numbers: [UInt32]) -> Document {
    .array(numbers.map { .integer(Int64($0)) })
  }

  /// An array of texts.
  static func texts(_ texts: [String]) -> Document { .array(texts.map { .string($0) }) }
}

extension [Document] {
  /// The elements as numbers; `nil` if one is not a number.
  var numbers: [UInt32]? {
    let numbers = compactMap(\.number)
    return numbers.count == count ? numbers : nil
  }

  /// The elements as strictly ascending numbers; `nil` if they are not.
  var ascendingNumbers: [UInt32]? {
    guard let numbers, zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) else { return nil }
    return numbers
  }

  /// The elements as texts; `nil` if one is not a text.
  var texts: [String]? {
    let texts = compactMap(\.text)
    return texts.count == count ? texts : nil
  }
}
