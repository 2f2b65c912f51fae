package import LodestoreFormat

/// Turns JSON records into records of an entity without a Swift type: bytes of the text go into the
/// record as they are where the format allows it.
///
/// One for many records; not for two threads at once.
package final class JSONRecordEncoder {
  /// The member that `kvdump` shows a record's id in; ids are given by the store, so it is left out.
  package static let idMember = "_id"

  /// Reads a value in another way than its attribute's type says.
  package typealias Conversion = @Sendable (JSONNode) throws(ValueMismatch) -> Value

  /// A member's name as it came in the record before, at the same place.
  private struct Guess {
    var name: [UInt8]
    var place: Int
  }

  private let entity: StoredEntity
  private let attributes: [EntityDescription.Attribute]
  private let conversions: [Conversion?]
  private let isStrict: Bool
  /// The place in the layout by the name of the JSON member; −1 for members that are no attribute.
  private var placeByMember: [String: Int] = [:]
  private let placeByName: [String: Int]
  private var guesses: [Guess] = []
  /// What absent attributes are; nil for one that must be there.
  private let absent: [Value?]
  // Of the record read last.
  private var document: JSONDocument?
  /// The entry of each attribute's value; −1 for an absent one.
  private var entries: [Int]
  private var unknownMembers: [String: Int] = [:]
  /// In memory of their own: each of the many calls for one record would otherwise be checked for
  /// exclusive access to this object.
  private let writer: UnsafeMutablePointer<RecordWriter>
  private let documentWriter: UnsafeMutablePointer<DocumentWriter>

  /// - Parameters:
  ///   - names: attributes of members whose names were mapped in another way than
  ///     ``AttributeNames/valid(_:)`` does.
  ///   - conversions: by the names of attributes.
  ///   - isStrict: whether an unknown member rejects the record.
  package init(
    _ entity: StoredEntity, names: [String: String] = [:],
    conversions: [String: Conversion] = [:], isStrict: Bool = false
  ) {
    self.entity = entity
    self.isStrict = isStrict
    let attributes = entity.description.declaredAttributes
    self.attributes = attributes
    self.conversions = attributes.map { conversions[$0.name] }
    absent = attributes.map { $0.initial == .null && !$0.isOptional ? nil : $0.initial }
    placeByName = Dictionary(
      attributes.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    entries = Array(repeating: -1, count: attributes.count)
    writer = .allocate(capacity: 1)
    writer.initialize(to: RecordWriter())
    documentWriter = .allocate(capacity: 1)
    documentWriter.initialize(to: DocumentWriter())
    for (member, name) in names { placeByMember[member] = placeByName[name] ?? -1 }
  }

  deinit {
    writer.deinitialize(count: 1)
    writer.deallocate()
    documentWriter.deinitialize(count: 1)
    documentWriter.deallocate()
  }

  // MARK: Members

  /// Finds a record's attributes, for the calls that follow.
  package func read(_ record: JSONRecord) throws(RecordRejection) {
    for place in entries.indices { entries[place] = -1 }
    document = record.node.document
    switch record {
    case .object(let node): try readObject(node)
    case .row(let names, let node): try readRow(names, node)
    }
  }

  private func readObject(_ node: JSONNode) throws(RecordRejection) {
    guard node.kind == .object else {
      throw RecordRejection("the record is \(node.kindName), must be an object", at: node)
    }
    let document = node.document
    let end = Int(node.entry.link)
    var index = node.index + 1
    var ordinal = 0
    while index < end {
      try take(place(ofKey: index, ordinal, document), index + 1, document) {
        JSONStringContent.string(document.entries[index], document.text)
      }
      ordinal += 1
      index = document.next(after: index + 1)
    }
  }

  private func readRow(_ names: [String], _ node: JSONNode) throws(RecordRejection) {
    guard node.kind == .array, node.count == names.count else {
      let found = node.kind == .array ? "\(node.count) values" : node.kindName
      throw RecordRejection("the row has \(found), the fields are \(names.count)", at: node)
    }
    var index = node.index + 1
    for name in names {
      try take(place(of: name), index, node.document) { name }
      index = node.document.next(after: index)
    }
  }

  private func take(
    _ place: Int, _ index: Int, _ document: JSONDocument, _ member: () -> String
  ) throws(RecordRejection) {
    guard place >= 0 else { return try takeUnknown(member(), document.root.at(index)) }
    guard entries[place] < 0 else {
      let name = attributes[place].name
      throw RecordRejection(
        "'\(member())' and another member are both attribute '\(name)'", attribute: name,
        at: document.root.at(index))
    }
    entries[place] = index
  }

  private func takeUnknown(_ member: String, _ node: JSONNode) throws(RecordRejection) {
    if member == Self.idMember { return }
    unknownMembers[member, default: 0] += 1
    guard !isStrict else {
      throw RecordRejection("'\(member)' is no attribute of \(entity.name)", at: node)
    }
  }

  /// The place of the member with the key at `index`: most often that of the record before.
  private func place(ofKey index: Int, _ ordinal: Int, _ document: JSONDocument) -> Int {
    let entry = document.entries[index]
    if !entry.isEscaped, ordinal < guesses.count {
      let key = document.bytes(ofEntry: index)
      let isGuessed = guesses[ordinal].name.withUnsafeBytes { name in
        name.count == key.count && compareKeys(name, UnsafeRawBufferPointer(key)) == 0
      }
      if isGuessed { return guesses[ordinal].place }
    }
    let name = JSONStringContent.string(entry, document.text)
    let guess = Guess(name: Array(name.utf8), place: place(of: name))
    if ordinal < guesses.count {
      guesses[ordinal] = guess
    } else if guesses.count < 1000 {
      guesses.append(guess)
    }
    return guess.place
  }

  private func place(of member: String) -> Int {
    if let known = placeByMember[member] { return known }
    let place =
      member == Self.idMember
      ? -1 : placeByName[member] ?? placeByName[AttributeNames.valid(member)] ?? -1
    placeByMember[member] = place
    return place
  }

  /// The unknown members since the last call.
  func takeUnknownMembers() -> [String: Int] {
    defer { unknownMembers = [:] }
    return unknownMembers
  }

  // MARK: Content

  /// The content for the record that was read last, with room for its checksum behind it.
  ///
  /// Valid until the next call. Absent attributes take their initial value or null.
  ///
  /// - Parameter isPart: whether required attributes may be absent, as a merge takes the given ones.
  package func content(
    of record: JSONRecord, isPart: Bool = false
  ) throws(RecordRejection) -> UnsafeRawBufferPointer {
    for isWide in [false, true] {
      writer.pointee.begin(entity.layout, isWide: isWide)
      for (place, attribute) in entity.layout.attributes.enumerated() {
        if entries[place] >= 0, let document {
          try write(document.root.at(entries[place]), place, attribute)
        } else if let value = absent[place] {
          writer.pointee.write(value, as: attribute)
        } else if isPart {
          writer.pointee.write(.placeholder(of: attribute.type), as: attribute)
        } else {
          let name = attributes[place].name
          throw RecordRejection(
            "'\(name)' is absent, and required", attribute: name, offset: record.offset)
        }
      }
      if let content = writer.pointee.finish(entity.layout, entity: entity.name) {
        return UnsafeRawBufferPointer(content)
      }
    }
    preconditionFailure("a record fits wide offsets")
  }

  private func write(
    _ node: JSONNode, _ place: Int, _ attribute: RecordLayout.Attribute
  ) throws(RecordRejection) {
    let entry = node.entry
    if conversions[place] == nil, entry.kind != .null {
      switch attribute.type {
      case .string, .url:
        guard entry.kind == .string, !entry.isEscaped else { break }
        if attribute.isOptional { writer.pointee.markPresent() }
        let text = node.document.bytes(ofEntry: node.index)
        return writer.pointee.writeVariable(UnsafeRawBufferPointer(text))
      case .json, .document:
        guard entry.kind != .object || ExactJSON.value(node, as: attribute.type) == nil else {
          break
        }
        documentWriter.pointee.bytes.removeAll(keepingCapacity: true)
        do {
          try node.writeDocument(to: &documentWriter.pointee)
        } catch {
          throw rejection(
            ValueMismatch(
              description: "is nested deeper than \(Document.deepestNesting) levels"), place, node)
        }
        if attribute.isOptional { writer.pointee.markPresent() }
        return documentWriter.pointee.bytes.withUnsafeBytes {
          writer.pointee.writeVariable($0)
        }
      default: break
      }
    }
    let value: Value
    do throws(ValueMismatch) {
      if let conversion = conversions[place] {
        value = try conversion(node)
      } else {
        value = try Value(node, as: attribute.type)
      }
    } catch {
      throw rejection(error, place, node)
    }
    guard value != .null || attribute.isOptional else {
      let name = attributes[place].name
      throw RecordRejection("'\(name)' is null, and required", attribute: name, at: node)
    }
    writer.pointee.write(value, as: attribute)
  }

  private func rejection(
    _ mismatch: ValueMismatch, _ place: Int, _ node: JSONNode
  ) -> RecordRejection {
    let name = attributes[place].name
    return RecordRejection("'\(name)' \(mismatch.description)", attribute: name, at: node)
  }

  /// Which attributes of the layout the record read last has.
  package var isGiven: [Bool] { entries.map { $0 >= 0 } }

  /// Whether the record read last has a value for each of the attributes `numbers`.
  package func hasKey(_ numbers: [UInt32]) -> Bool {
    numbers.allSatisfy { number in
      guard let place = entity.layout.placeIndex(ofAttribute: number), entries[place] >= 0,
        let document
      else { return false }
      return document.entries[entries[place]].kind != .null
    }
  }
}
