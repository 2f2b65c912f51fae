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

  /// What changes from record to record.
  private struct State: ~Copyable {
    var writer = RecordWriter()
    var documentWriter = DocumentWriter()
    /// The place in the layout by the name of the JSON member; −1 for members that are no attribute.
    var placeByMember: [String: Int] = [:]
    var guesses = MemberGuesses()
    var unknownMembers: [String: Int] = [:]
    // Of the record read last.
    var document: JSONDocument?
    /// The entry of each attribute's value; −1 for an absent one.
    var entries: [Int]
  }

  private let entity: StoredEntity
  private let attributes: [EntityDescription.Attribute]
  private let conversions: [Conversion?]
  private let isStrict: Bool
  private let placeByName: [String: Int]
  /// What absent attributes are; nil for one that must be there.
  private let absent: [Value?]
  /// In memory of its own: each of the many uses for one record would otherwise be checked for
  /// exclusive access to this object.
  private let state: UnsafeMutablePointer<State>

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
    state = .allocate(capacity: 1)
    state.initialize(to: State(entries: Array(repeating: -1, count: attributes.count)))
    for (member, name) in names {
      state.pointee.placeByMember[member] = placeByName[name] ?? -1
    }
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  // MARK: Members

  /// Finds a record's attributes, for the calls that follow.
  package func read(_ record: JSONRecord) throws(RecordRejection) {
    for place in state.pointee.entries.indices { state.pointee.entries[place] = -1 }
    state.pointee.document = record.node.document
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
      let place = place(ofKey: index, ordinal, document)
      switch place {
      case MemberGuesses.unknown: state.pointee.guesses.countUnknown(ordinal)
      case MemberGuesses.ignored: break
      default:
        try take(place, index + 1, document) {
          JSONStringContent.string(document.entries[index], document.text)
        }
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
    guard state.pointee.entries[place] < 0 else {
      let name = attributes[place].name
      throw RecordRejection(
        "'\(member())' and another member are both attribute '\(name)'", attribute: name,
        at: document.root.at(index))
    }
    state.pointee.entries[place] = index
  }

  private func takeUnknown(_ member: String, _ node: JSONNode) throws(RecordRejection) {
    if member == Self.idMember { return }
    state.pointee.unknownMembers[member, default: 0] += 1
    guard !isStrict else {
      throw RecordRejection("'\(member)' is no attribute of \(entity.name)", at: node)
    }
  }

  /// The place of the member with the key at `index`: most often that of the record before.
  private func place(ofKey index: Int, _ ordinal: Int, _ document: JSONDocument) -> Int {
    let entry = document.entries[index]
    if !entry.isEscaped,
      let place = state.pointee.guesses.place(ordinal, document.bytes(ofEntry: index))
    {
      return place
    }
    let name = JSONStringContent.string(entry, document.text)
    let place = place(of: name)
    let guess =
      name == Self.idMember ? MemberGuesses.ignored : place < 0 ? MemberGuesses.unknown : place
    // Where an unknown member is refused, it is by its name.
    if !isStrict || guess != MemberGuesses.unknown {
      state.pointee.guesses.note(ordinal, name, guess, counting: &state.pointee.unknownMembers)
    }
    return place
  }

  private func place(of member: String) -> Int {
    if let known = state.pointee.placeByMember[member] { return known }
    let place =
      member == Self.idMember
      ? -1 : placeByName[member] ?? placeByName[AttributeNames.valid(member)] ?? -1
    if state.pointee.placeByMember.count < 10_000 { state.pointee.placeByMember[member] = place }
    return place
  }

  /// The unknown members since the last call.
  func takeUnknownMembers() -> [String: Int] {
    state.pointee.guesses.moveCounts(into: &state.pointee.unknownMembers)
    defer { state.pointee.unknownMembers = [:] }
    return state.pointee.unknownMembers
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
      state.pointee.writer.begin(entity.layout, isWide: isWide)
      for (place, attribute) in entity.layout.attributes.enumerated() {
        let entry = state.pointee.entries[place]
        if entry >= 0, let document = state.pointee.document {
          try write(document.root.at(entry), place, attribute)
        } else if let value = absent[place] {
          state.pointee.writer.write(value, as: attribute)
        } else if isPart {
          state.pointee.writer.write(.placeholder(of: attribute.type), as: attribute)
        } else {
          let name = attributes[place].name
          throw RecordRejection(
            "'\(name)' is absent, and required", attribute: name, offset: record.offset)
        }
      }
      if let content = state.pointee.writer.finish(entity.layout, entity: entity.name) {
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
        if attribute.isOptional { state.pointee.writer.markPresent() }
        let text = node.document.bytes(ofEntry: node.index)
        return state.pointee.writer.writeVariable(UnsafeRawBufferPointer(text))
      case .json, .document:
        guard entry.kind != .object || ExactJSON.value(node, as: attribute.type) == nil else {
          break
        }
        state.pointee.documentWriter.bytes.removeAll(keepingCapacity: true)
        do {
          try node.writeDocument(to: &state.pointee.documentWriter)
        } catch {
          throw rejection(
            ValueMismatch(
              description: "is nested deeper than \(Document.deepestNesting) levels"), place, node)
        }
        if attribute.isOptional { state.pointee.writer.markPresent() }
        return state.pointee.documentWriter.bytes.withUnsafeBytes {
          state.pointee.writer.writeVariable($0)
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
    state.pointee.writer.write(value, as: attribute)
  }

  private func rejection(
    _ mismatch: ValueMismatch, _ place: Int, _ node: JSONNode
  ) -> RecordRejection {
    let name = attributes[place].name
    return RecordRejection("'\(name)' \(mismatch.description)", attribute: name, at: node)
  }

  /// Which attributes of the layout the record read last has.
  package var isGiven: [Bool] { state.pointee.entries.map { $0 >= 0 } }

  /// Why the record read last cannot be matched by the attributes `numbers`; nil when it has a
  /// value for each.
  package func missingKey(_ numbers: [UInt32], in record: JSONRecord) -> RecordRejection? {
    let document = state.pointee.document
    for number in numbers {
      guard let place = entity.layout.placeIndex(ofAttribute: number) else {
        return RecordRejection("a part of its key is absent", offset: record.offset)
      }
      let entry = state.pointee.entries[place]
      if entry >= 0, let document, document.entries[entry].kind != .null { continue }
      let name = attributes[place].name
      let node = entry >= 0 ? document?.root.at(entry) : nil
      return RecordRejection(
        "a part of its key, '\(name)', is \(entry >= 0 ? "null" : "absent")", attribute: name,
        offset: node?.offset ?? record.offset)
    }
    return nil
  }
}

/// The names of members as they came in the record before, each at its place in the object: records
/// of a page mostly have the same members in the same order.
private struct MemberGuesses {
  /// The places of a member that is guessed to be no attribute, and of one that is left out.
  static let unknown = -2
  static let ignored = -3
  private static let limit = 1000

  private struct Guess {
    var start: Int
    var count: Int
    var place: Int
    /// How often it came, when it is no attribute.
    var unknownCount = 0
  }

  private var bytes: [UInt8] = []
  private var members: [Guess] = []

  /// The place of the member that is the `ordinal`th of its object, if it has the guessed name.
  @inline(__always)
  func place(_ ordinal: Int, _ name: UnsafeBufferPointer<UInt8>) -> Int? {
    guard ordinal < members.count else { return nil }
    let guess = members[ordinal]
    guard guess.count == name.count, let other = name.baseAddress else { return nil }
    let isSame = bytes.withUnsafeBytes { bytes in
      bytes.baseAddress.map { compareBytes($0 + guess.start, other, guess.count) == 0 } ?? false
    }
    return isSame ? guess.place : nil
  }

  mutating func countUnknown(_ ordinal: Int) { members[ordinal].unknownCount += 1 }

  mutating func note(
    _ ordinal: Int, _ name: String, _ place: Int, counting counts: inout [String: Int]
  ) {
    guard ordinal < Self.limit, ordinal <= members.count else { return }
    // Records with ever other members must not fill the memory.
    if bytes.count > 1 << 16 {
      moveCounts(into: &counts)
      bytes = []
      members = []
      return
    }
    let guess = Guess(start: bytes.count, count: name.utf8.count, place: place)
    bytes.append(contentsOf: name.utf8)
    if ordinal < members.count {
      moveCount(of: ordinal, into: &counts)
      members[ordinal] = guess
    } else {
      members.append(guess)
    }
  }

  mutating func moveCounts(into counts: inout [String: Int]) {
    for ordinal in members.indices { moveCount(of: ordinal, into: &counts) }
  }

  private mutating func moveCount(of ordinal: Int, into counts: inout [String: Int]) {
    let guess = members[ordinal]
    guard guess.unknownCount > 0 else { return }
    let name = String(decoding: bytes[guess.start..<guess.start + guess.count], as: UTF8.self)
    counts[name, default: 0] += guess.unknownCount
    members[ordinal].unknownCount = 0
  }
}
