/// Takes the members of one object of the catalogue; what is left is of a later version.
struct CatalogueReader {
  private let members: [String: Document]
  /// The names of the members that were taken, each once.
  private var taken: [String] = []
  /// The members that were left of the objects within this one.
  private(set) var unknown = UnknownMembers()

  /// Reads nothing of a document that is no object.
  init(_ document: Document) {
    if case .object(let members) = document { self.members = members } else { members = [:] }
  }

  /// The members that were not taken.
  var rest: [String: Document] {
    taken.count == members.count ? [:] : members.filter { !taken.contains($0.key) }
  }

  /// The member `name`, which is asked for once; `nil` when there is none.
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

  /// The number of an attribute.
  mutating func attribute(_ name: String) throws(FormatError) -> UInt32 {
    try integer(name, upTo: EntityDescription.highestAttributeNumber)
  }

  /// - Parameter subject: what has the member, for the message.
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

  /// What `read` makes of an object.
  ///
  /// - Parameter object: says which object it is, to whom its unknown members belong.
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

  /// What `read` makes of the objects in the array `name`.
  mutating func list<Element>(
    _ name: String, as object: (Element) -> CatalogueObject,
    _ read: (inout CatalogueReader) throws(FormatError) -> Element
  ) throws(FormatError) -> [Element] {
    var list: [Element] = []
    for element in try array(name) { list.append(try self.read(element, as: object, read)) }
    return list
  }

  /// What `read` makes of the objects in the array `name`, which may be absent.
  mutating func optionalList<Element>(
    _ name: String, as object: (Element) -> CatalogueObject,
    _ read: (inout CatalogueReader) throws(FormatError) -> Element
  ) throws(FormatError) -> [Element] {
    members[name] == nil ? [] : try list(name, as: object, read)
  }

  /// What `read` makes of the object `name`; `nil` when there is none.
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

  /// The number, as entities, attributes and indexes have; `nil` for any other value.
  var number: UInt32? { if case .integer(let value) = self { UInt32(exactly: value) } else { nil } }

  /// An array of numbers.
  static func numbers(_ numbers: [UInt32]) -> Document {
    .array(numbers.map { .integer(Int64($0)) })
  }

  /// An array of texts.
  static func texts(_ texts: [String]) -> Document { .array(texts.map { .string($0) }) }
}

extension [Document] {
  /// The numbers that the elements are; `nil` where one is none.
  var numbers: [UInt32]? {
    let numbers = compactMap(\.number)
    return numbers.count == count ? numbers : nil
  }

  /// The numbers that the elements are; `nil` where one is none, or is not above the one before.
  var ascendingNumbers: [UInt32]? {
    guard let numbers, zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) else { return nil }
    return numbers
  }

  /// The texts that the elements are; `nil` where one is none.
  var texts: [String]? {
    let texts = compactMap(\.text)
    return texts.count == count ? texts : nil
  }
}
