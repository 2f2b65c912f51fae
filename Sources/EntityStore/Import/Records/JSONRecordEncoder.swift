internal import LodestoreBytes
internal import LodestoreFormat

/// Encodes JSON records as records of an entity without a Swift type.
///
/// Bytes of the text are copied into the record where the format allows it.
///
/// One encoder is used for many records. The class is not thread-safe.
final class JSONRecordEncoder {
  /// The member in which `kvdump` writes a record's id.
  ///
  /// The store assigns ids, so an attribute never takes the member by this name. Unless the import
  /// maps it to an attribute with another name, it counts as an unknown member.
  static let idMember = "_id"

  /// Converts a value in place of the standard conversion to its attribute's type.
  typealias Conversion = @Sendable (JSONNode) throws(ValueMismatch) -> Value

  /// The facts of an attribute that do not depend on the record.
  private struct Slot {
    let attribute: RecordLayout.Attribute
    let isConverted: Bool
    /// Whether the attribute is null when its member is absent.
    let isNullWhenAbsent: Bool
  }

  /// The state that changes from record to record.
  private struct State: ~Copyable {
    var writer = RecordWriter()
    var documentWriter = DocumentWriter()
    var members = MemberTable()
    /// The counts of unknown members that the table no longer holds, or had no room for.
    var unknownMembers: [String: Int] = [:]
    /// The slots of attributes that have a source member and were filled by a member of their own
    /// name.
    var filledByName: Set<Int> = []
    /// The document of the record that was read last.
    var document: JSONDocument?
    /// The tape entry of the record's key in its object, when an attribute holds the key; −1
    /// otherwise.
    var key = -1
  }

  private let entity: StoredEntity
  private let shape: RecordShape
  private let attributes: [EntityDescription.Attribute]
  private let conversions: [Conversion?]
  private let isStrict: Bool
  private let mapping: MemberMapping
  private let hasMore: Bool
  /// The slots of attributes whose source is a member with another name.
  private let sourced: [Int]
  /// The attributes whose values come from links of the import later.
  private let linked: Set<String>
  /// The values of absent attributes; nil for a required attribute.
  private let absent: [Value?]
  // The slots are allocated separately. As a stored property of this object, they would need a
  // check of exclusive access at each of their many uses for one record.
  private let slots: UnsafeMutableBufferPointer<Slot>
  /// For each attribute, the tape entry of its value in the record that was read last; −1 when
  /// the member is absent.
  private let entries: UnsafeMutableBufferPointer<Int>
  /// For each attribute, the claim by which its member in ``entries`` fills it; meaningless for an
  /// absent member.
  private let claims: UnsafeMutableBufferPointer<MemberTable.Claim>
  private let state: UnsafeMutablePointer<State>

  /// Creates an encoder for records of `entity`.
  ///
  /// - Parameters:
  ///   - names: attributes by the names of members that the import maps. Other members fill the
  ///     attribute whose source they are in the catalogue, or else the attribute of their own name.
  ///   - conversions: the conversions, by attribute name.
  ///   - isStrict: whether an unknown member rejects the record.
  ///   - linked: names of attributes that get their values from links after encoding. Such an
  ///     attribute may be absent even when required.
  ///   - keyName: the member name for the keys of records that are values of members.
  init(
    _ entity: StoredEntity, names: [String: String] = [:],
    conversions: [String: Conversion] = [:], isStrict: Bool = false,
    ignoring ignored: Set<String> = [], linked: Set<String> = [], keyName: String? = nil
  ) {
    self.linked = linked
    self.entity = entity
    shape = RecordShape(entity.layout)
    self.isStrict = isStrict
    mapping = MemberMapping(entity, names: names, ignoring: ignored, keyName: keyName)
    hasMore = !mapping.nested.isEmpty || mapping.keySlot != nil
    let attributes = entity.description.declaredAttributes
    self.attributes = attributes
    sourced = attributes.indices.filter { attributes[$0].source != nil }
    self.conversions = attributes.map { conversions[$0.name] }
    absent = attributes.map { $0.defaultValue == .null && !$0.isOptional ? nil : $0.defaultValue }
    slots = .allocate(capacity: attributes.count)
    for (slot, attribute) in entity.layout.attributes.enumerated() {
      let fixed = Slot(
        attribute: attribute, isConverted: self.conversions[slot] != nil,
        isNullWhenAbsent: absent[slot] == .null)
      slots.initializeElement(at: slot, to: fixed)
    }
    entries = .allocate(capacity: attributes.count)
    entries.initialize(repeating: -1)
    claims = .allocate(capacity: attributes.count)
    claims.initialize(repeating: .name)
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    slots.deallocate()
    entries.deallocate()
    claims.deallocate()
  }

  // MARK: Members

  /// Finds a record's attributes; the following calls refer to this record.
  func read(_ record: JSONRecord) throws(RecordRejection) {
    begin(record.node.document)
    if let rejection = record.rejection { throw rejection }
    switch record {
    case .object(let node), .member(_, let node): try readObject(node.index, node.document.reader)
    case .row(let names, let node): try readRow(names, node)
    }
  }

  /// Prepares for the records of another text.
  func begin(_ document: JSONDocument) { state.pointee.document = document }

  /// Finds the attributes of the record at the tape entry `index` of the current text.
  ///
  /// The method uses entry numbers and pointers: a `JSONNode` would be retained several times for
  /// each record.
  func readObject(_ index: Int, _ tape: JSONTapeReader) throws(RecordRejection) {
    for slot in entries.indices { entries[slot] = -1 }
    if tape.entries[index].kind != .object, let rejection = JSONRecord.object(node(index)).rejection
    {
      throw rejection
    }
    let end = Int(tape.entries[index].link)
    let start = index
    var index = index + 1
    var last = MemberTable.start
    while index < end {
      let found = tape.withContent(index) { [state] in
        state.pointee.members.find($0, after: last)
      }
      last = found ?? add(tape.string(index), after: last)
      try take(last, index + 1)
      index = tape.next(after: index + 1)
    }
    if hasMore { readMore(of: start) }
  }

  /// Finds the attributes whose values are nested in members, and the attribute that holds the
  /// record's key.
  private func readMore(of record: Int) {
    let node = node(record)
    for (path, slot) in mapping.nested where entries[slot] < 0 {
      guard let found = node[path: path] else { continue }
      entries[slot] = found.index
      claims[slot] = .map
    }
    state.pointee.key = -1
    if let keySlot = mapping.keySlot, entries[keySlot] < 0 {
      entries[keySlot] = node.memberKey.index
      claims[keySlot] = .map
      state.pointee.key = node.memberKey.index
    }
  }

  /// The value at the tape entry `index` of the current text.
  private func node(_ index: Int) -> JSONNode {
    guard let document = state.pointee.document else { preconditionFailure("no text was begun") }
    return JSONNode(document: document, index: index)
  }

  private func readRow(_ names: [String], _ node: JSONNode) throws(RecordRejection) {
    for slot in entries.indices { entries[slot] = -1 }
    let tape = node.document.reader
    var index = node.index + 1
    var last = MemberTable.start
    for var name in names {
      let found = name.withUTF8 { state.pointee.members.find(ByteView($0), after: last) }
      last = found ?? add(name, after: last)
      try take(last, index)
      index = tape.next(after: index)
    }
  }

  /// Assigns the value at the tape entry `index` to the attribute of this member.
  @inline(__always)
  private func take(_ member: Int, _ index: Int) throws(RecordRejection) {
    let slot = state.pointee.members[member].slot
    guard slot >= 0 else {
      return slot == MemberTable.ignored ? () : try countUnknown(member, index)
    }
    let claim = state.pointee.members[member].claim
    if entries[slot] >= 0 { return try chooseMember(member, claim, slot, index) }
    entries[slot] = index
    claims[slot] = claim
  }

  /// Chooses between two members for one attribute, and counts the other one as unknown.
  @inline(never)
  private func chooseMember(
    _ member: Int, _ claim: MemberTable.Claim, _ slot: Int, _ index: Int
  ) throws(RecordRejection) {
    let other = claims[slot]
    let attribute = attributes[slot]
    guard other != claim else {
      throw RecordRejection(
        "'\(state.pointee.members[member].name)' and another member are both attribute "
          + "'\(attribute.name)'", attribute: attribute.name, at: node(index))
    }
    guard other.rawValue < claim.rawValue else { return try countUnknown(member, index) }
    let loser = other == .source ? attribute.source ?? attribute.name : attribute.name
    let entry = entries[slot]
    entries[slot] = index
    claims[slot] = claim
    noteUnknown(loser, 1)
    try refuseWhenStrict(loser, entry)
  }

  private func countUnknown(_ member: Int, _ index: Int) throws(RecordRejection) {
    state.pointee.members.countUnknown(member)
    if isStrict { try refuseWhenStrict(state.pointee.members[member].name, index) }
  }

  private func refuseWhenStrict(_ name: String, _ index: Int) throws(RecordRejection) {
    guard isStrict else { return }
    let reason =
      name == Self.idMember
      ? "'\(name)' is the store's own name for the id of a record; map it to another name"
      : "'\(name)' is no attribute of \(entity.name)"
    throw RecordRejection(reason, at: node(index))
  }

  private func add(_ member: String, after last: Int) -> Int {
    var last = last
    if state.pointee.members.isFull {
      for (name, count) in state.pointee.members.takeUnknownCounts() { noteUnknown(name, count) }
      state.pointee.members = MemberTable()
      last = MemberTable.start
    }
    let (slot, claim) = mapping.claim(of: member)
    return state.pointee.members.add(member, slot: slot, claim: claim, after: last)
  }

  /// Returns the counts of unknown members since the last call; a name may be listed more than
  /// once.
  func takeUnknownMembers() -> [(name: String, count: Int)] {
    defer { state.pointee.unknownMembers = [:] }
    return state.pointee.unknownMembers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      + state.pointee.members.takeUnknownCounts()
  }

  /// Counts an unknown member; limits the number of names, as the report does, to bound the memory.
  private func noteUnknown(_ name: String, _ count: Int) {
    guard
      state.pointee.unknownMembers.count < ImportReport.mostUnknownMembers
        || state.pointee.unknownMembers[name] != nil
    else { return }
    state.pointee.unknownMembers[name, default: 0] += count
  }

  /// Returns warnings about members of the records since the last call.
  func takeWarnings() -> [String] {
    defer { state.pointee.filledByName = [] }
    return state.pointee.filledByName.sorted().map { slot in
      let (name, source) = (attributes[slot].name, attributes[slot].source ?? "")
      return "member '\(name)' fills the attribute of that name, which was made for member "
        + "'\(source)'; map it to another attribute unless both are one"
    }
  }

  // MARK: Content

  /// The content of the record that was read last, followed by room for its checksum.
  ///
  /// The record is at the tape entry `index` of the current text. The bytes are valid until the
  /// next call. Absent attributes have their initial value or null.
  ///
  /// - Parameter isPart: whether required attributes may be absent, because the merge uses only the
  ///   given ones.
  func content(
    of index: Int, _ tape: JSONTapeReader, isPart: Bool
  ) throws(RecordRejection) -> ByteView {
    for slot in sourced where entries[slot] >= 0 && claims[slot] == .name {
      state.pointee.filledByName.insert(slot)
    }
    if let content = try content(of: index, tape, isPart: isPart, isWide: false) { return content }
    if let content = try content(of: index, tape, isPart: isPart, isWide: true) { return content }
    preconditionFailure("a record fits wide offsets")
  }

  private func content(
    of index: Int, _ tape: JSONTapeReader, isPart: Bool, isWide: Bool
  ) throws(RecordRejection) -> ByteView? {
    let slots = slots
    let entries = entries
    state.pointee.writer.begin(shape, isWide: isWide)
    for slot in slots.indices {
      let entry = entries[slot]
      if entry >= 0 {
        if !writeAsItIs(entry, tape, slots[slot]) { try write(node(entry), slot) }
      } else if slots[slot].isNullWhenAbsent {
        state.pointee.writer.writeNull(slots[slot].attribute.type)
      } else {
        try writeAbsent(slot, of: index, isPart: isPart)
      }
    }
    let content =
      state.pointee.writer.finished(shape)
      ?? state.pointee.writer.finish(entity.layout, entity: entity.name)
    return content.map { ByteView($0) }
  }

  private func writeAbsent(_ slot: Int, of index: Int, isPart: Bool) throws(RecordRejection) {
    let attribute = slots[slot].attribute
    if let value = absent[slot] {
      state.pointee.writer.write(value, as: attribute)
    } else if isPart || entity.part?.isGiven[slot] == false
      || entity.derivations?.isDerived[slot] == true || linked.contains(attributes[slot].name)
    {
      state.pointee.writer.write(.placeholder(of: attribute.type), as: attribute)
    } else {
      let name = attributes[slot].name
      throw RecordRejection(
        "'\(name)' is absent, and required", attribute: name, at: node(index))
    }
  }

  /// Copies a string or a document from the text of the record.
  ///
  /// Returns false, with nothing written, for values of other kinds and for invalid values.
  @inline(__always)
  private func writeAsItIs(_ index: Int, _ tape: JSONTapeReader, _ slot: Slot) -> Bool {
    // The local variable avoids that each closure retains `self`.
    let state = state
    let kind = tape.entries[index].kind
    guard kind != .null, !slot.isConverted else { return false }
    switch slot.attribute.type {
    case .string, .url:
      guard kind == .string else { return false }
      if slot.attribute.isOptional { state.pointee.writer.markPresent() }
      tape.withContent(index) { state.pointee.writer.writeVariable($0) }
      return true
    case .json, .document: return !tape.mayBeExactForm(index) && writeDocument(index, tape, slot)
    default: return false
    }
  }

  private func writeDocument(_ index: Int, _ tape: JSONTapeReader, _ slot: Slot) -> Bool {
    let state = state
    // A document cannot hold a number that fits neither a 64-bit integer nor a double.
    // `Value.init(_:as:)` reports the error.
    if state.pointee.document?.wideNumber(in: index) != nil { return false }
    state.pointee.documentWriter.truncate(to: 0)
    do { try tape.writeDocument(index, to: &state.pointee.documentWriter) } catch { return false }
    if slot.attribute.isOptional { state.pointee.writer.markPresent() }
    state.pointee.documentWriter.withBytes { state.pointee.writer.writeVariable($0) }
    return true
  }

  private func write(_ node: JSONNode, _ slot: Int) throws(RecordRejection) {
    let attribute = slots[slot].attribute
    let value: Value
    do throws(ValueMismatch) {
      if let conversion = conversions[slot] {
        value = try conversion(node)
      } else if node.index == state.pointee.key, let text = node.string,
        let read = Value(text: text, as: attribute.type)
      {
        value = read
      } else {
        value = try Value(node, as: attribute.type)
      }
    } catch {
      throw rejection(error, slot, node)
    }
    guard value != .null || attribute.isOptional else {
      // Null is a valid JSON value, so a required attribute that holds JSON stores it as a
      // document.
      if attribute.type == .json { return state.pointee.writer.write(.nullDocument, as: attribute) }
      let name = attributes[slot].name
      throw RecordRejection("'\(name)' is null, and required", attribute: name, at: node)
    }
    state.pointee.writer.write(value, as: attribute)
  }

  private func rejection(
    _ mismatch: ValueMismatch, _ slot: Int, _ node: JSONNode
  ) -> RecordRejection {
    let name = attributes[slot].name
    return RecordRejection("'\(name)' \(mismatch.description)", attribute: name, at: node)
  }

  /// For each attribute of the layout, whether the record that was read last contains it.
  var isGiven: [Bool] { entries.map { $0 >= 0 } }
  /// For each attribute of the layout, whether the program's type declares it; `nil` when it
  /// declares all.
  var isDeclared: [Bool]? { entity.part?.isGiven }

  /// The rejection of the record that was read last when it has no value for one of the key
  /// attributes.
  ///
  /// The record is at the tape entry `index` of the current text. Returns `nil` when each attribute
  /// in `numbers` has a value.
  func missingKey(_ numbers: [UInt32], in index: Int, _ tape: JSONTapeReader) -> RecordRejection? {
    for number in numbers {
      let number = entity.derivations?.given(number) ?? number
      guard let slot = entity.layout.slotIndex(ofAttribute: number) else {
        return RecordRejection("a part of its key is absent", at: node(index))
      }
      let entry = entries[slot]
      if entry >= 0, tape.entries[entry].kind != .null { continue }
      let name = attributes[slot].name
      return RecordRejection(
        "a part of its key, '\(name)', is \(entry >= 0 ? "null" : "absent")", attribute: name,
        at: node(entry >= 0 ? entry : index))
    }
    return nil
  }
}
