internal import LodestoreBytes
internal import LodestoreFormat

extension EntryHead {
  /// The head's document, with the length and the SHA-256 of a body.
  func document(bodyLength: Int, bodySHA256: [UInt8]) -> Document {
    var members: [String: Document] = [
      "kind": .string(kind.rawValue), "epoch": .number(epoch), "slot": .number(slot),
      "store": .uuid(store), "session": .uuid(session), "lastWrite": .number(lastWrite),
      "time": .date(time), "schema": .data(schema), "bodyLength": .number(UInt64(bodyLength)),
    ]
    members["previous"] = previous.map { .data($0) }
    members["firstWrite"] = firstWrite.map { .number($0) }
    members["base"] = base.map { .string($0.text) }
    members["writer"] = writer.map { .string($0) }
    if !digests.isEmpty { members["digests"] = .data(Self.encoded(digests)) }
    if part != .whole {
      members["part"] = .number(part.number)
      members["continues"] = .bool(part.continues)
    }
    if let merged {
      members["firstSlot"] = .number(merged.firstSlot)
      members["lastEntry"] = .data(merged.lastEntry)
    }
    if bodyLength > 0 {
      members["bodySHA256"] = .data(bodySHA256)
      members["unpackedLength"] = .number(unpackedLength)
      members["changes"] = .number(changeCount)
      members["steps"] = .number(stepCount)
    }
    return .object(members)
  }

  /// The digests in the order of their keys, each as the length of the key, the key and 16 bytes.
  private static func encoded(_ digests: [[UInt8]: ContentDigest]) -> [UInt8] {
    digests.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { key, digest in
      [UInt8(truncatingIfNeeded: key.count)] + key + digest.bytes
    }
  }

  private static func digests(_ bytes: [UInt8]) -> [[UInt8]: ContentDigest]? {
    var digests: [[UInt8]: ContentDigest] = [:]
    var last: [UInt8] = []
    var rest = bytes[...]
    while let length = rest.popFirst() {
      guard rest.count >= Int(length) + ContentDigest.size else { return nil }
      let key = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(key.count)
      let digest = rest.prefix(ContentDigest.size)._withBytes { ContentDigest(bytes: $0) }
      rest = rest.dropFirst(ContentDigest.size)
      guard let digest, last.lexicographicallyPrecedes(key),
        key._withBytes({ DigestedContent(key: $0) }) != nil
      else { return nil }
      digests[key] = digest
      last = key
    }
    return digests
  }
}

/// The facts in a head about the entry's body.
struct BodyFacts: Equatable {
  var length = 0
  var sha256: [UInt8] = []
}

extension EntryHead {
  /// Reads a head, and ignores members that this library does not know.
  static func read(_ document: Document) throws(PackError) -> (head: EntryHead, body: BodyFacts) {
    let members = HeadMembers(document)
    let kindText = try members.text("kind")
    guard let kind = Kind(rawValue: kindText) else {
      throw .newer("an entry of the log", "it has the unknown kind '\(visible(kindText))'")
    }
    let slot = try members.number("slot", 1...PackLimits.number)
    var head = EntryHead(
      kind, epoch: try members.number("epoch", 1...PackLimits.number), slot: slot,
      previous: try members.optionalDigest("previous"), store: try members.uuid("store"),
      session: try members.uuid("session"),
      firstWrite: try members.optionalNumber("firstWrite", 1...PackLimits.write),
      lastWrite: try members.number("lastWrite", 0...PackLimits.write),
      time: try members.date("time"), schema: try members.digest("schema"))
    if let bytes = try members.optionalData("digests") {
      guard let digests = digests(bytes) else { throw members.wrong("digests") }
      head.digests = digests
    }
    head.part = Part(
      number: try members.optionalNumber("part", 1...PackLimits.number) ?? 1,
      continues: try members.optionalBool("continues") ?? false)
    if let first = try members.optionalNumber("firstSlot", 1...slot) {
      head.merged = Merged(firstSlot: first, lastEntry: try members.digest("lastEntry"))
    }
    if let text = try members.optionalText("base") {
      guard let name = ReplicaName(text) else { throw members.wrong("base") }
      head.base = name
    }
    head.writer = try members.optionalText("writer")
    var body = BodyFacts()
    body.length = Int(try members.number("bodyLength", 0...UInt64(PackLimits.entry)))
    if body.length > 0 {
      body.sha256 = try members.digest("bodySHA256")
      head.unpackedLength = try members.number("unpackedLength", 1...UInt64(PackLimits.unpacked))
      head.changeCount = try members.number("changes", 0...PackLimits.write)
      head.stepCount = try members.number("steps", 0...UInt64(PackLimits.unpacked))
    }
    try head.check(bodyLength: body.length)
    return (head, body)
  }

  /// Checks the rules between the members of a head.
  func check(bodyLength: Int) throws(PackError) {
    let firstSlot = merged?.firstSlot ?? slot
    let isPack = kind == .pack
    let hashes = [previous, schema, merged?.lastEntry].compactMap { $0 }
    let numbers = 1...PackLimits.number
    let faults: [(isFound: Bool, reason: String)] = [
      (!numbers.contains(slot) || !numbers.contains(epoch), "its slot or epoch is out of range"),
      (!(1...max(slot, 1)).contains(firstSlot), "it begins after its last slot"),
      ((previous == nil) != (firstSlot == 1), "only slot 1 has no entry before it"),
      (hashes.contains { $0.count != SchemaFingerprint.size }, "a hash does not have 32 bytes"),
      (lastWrite > PackLimits.write, "its last write is out of range"),
      (!PackLimits.times.contains(time), "its time is out of range"),
      (isPack != (firstWrite != nil), "only a pack has writes"),
      // A pack of mere buckets has no writes.
      (firstWrite.map { $0 < 1 || $0 > lastWrite + 1 } ?? false, "its writes do not ascend"),
      (!isPack && (bodyLength > 0 || part != .whole || merged != nil), "only a pack has a body"),
      (part.number < 1 || part != .whole && merged != nil, "its part is none"),
      (part.continues && !digests.isEmpty, "an unfinished part has digests"),
      (part != .whole && (firstWrite ?? 0) > lastWrite, "its parts have no writes"),
      (writer.map { $0.utf8.count > PackLimits.text } ?? false, "a text is too long"),
      ((kind == .base) != (base != nil), "only a base names a base"),
      (base.map { !$0.isHeadOfBase } ?? false, "it names no base"),
    ]
    let fault = faults.first(where: \.isFound)?.reason
    if let fault {
      throw .damaged("the entry of slot \(slot)", fault, slot: slot)
    }
  }
}

/// The members of a head.
private struct HeadMembers {
  let document: Document

  init(_ document: Document) { self.document = document }

  func wrong(_ name: String) -> PackError {
    .damaged("an entry of the log", "its head has no '\(name)' as it must be")
  }

  private func required<Value>(_ name: String, _ value: Value?) throws(PackError) -> Value {
    guard let value else { throw wrong(name) }
    return value
  }

  func optionalText(_ name: String) throws(PackError) -> String? {
    guard let member = document[name] else { return nil }
    guard case .string(let text) = member else { throw wrong(name) }
    return text
  }

  func text(_ name: String) throws(PackError) -> String {
    try required(name, try optionalText(name))
  }

  func optionalNumber(
    _ name: String, _ range: ClosedRange<UInt64>
  ) throws(PackError) -> UInt64? {
    guard let member = document[name] else { return nil }
    guard case .integer(let signed) = member, let number = UInt64(exactly: signed),
      range.contains(number)
    else { throw wrong(name) }
    return number
  }

  func number(_ name: String, _ range: ClosedRange<UInt64>) throws(PackError) -> UInt64 {
    try required(name, try optionalNumber(name, range))
  }

  func optionalBool(_ name: String) throws(PackError) -> Bool? {
    guard let member = document[name] else { return nil }
    guard case .bool(let flag) = member else { throw wrong(name) }
    return flag
  }

  func optionalData(_ name: String) throws(PackError) -> [UInt8]? {
    guard let member = document[name] else { return nil }
    guard case .data(let bytes) = member else { throw wrong(name) }
    return bytes
  }

  func optionalDigest(_ name: String) throws(PackError) -> [UInt8]? {
    guard let bytes = try optionalData(name) else { return nil }
    guard bytes.count == SchemaFingerprint.size else { throw wrong(name) }
    return bytes
  }

  func digest(_ name: String) throws(PackError) -> [UInt8] {
    try required(name, try optionalDigest(name))
  }

  func uuid(_ name: String) throws(PackError) -> UUIDBytes {
    guard case .uuid(let uuid)? = document[name] else { throw wrong(name) }
    return uuid
  }

  func date(_ name: String) throws(PackError) -> Double {
    guard case .date(let seconds)? = document[name], seconds.isFinite else { throw wrong(name) }
    return seconds
  }
}

extension Document {
  fileprivate static func number(_ number: UInt64) -> Document {
    .integer(Int64(clamping: number))
  }
}

/// A text of an object as a message may show it: short, and without control characters.
func visible(_ text: String) -> String {
  let scalars = text.unicodeScalars.prefix(40)
  return String(scalars.map { $0.value < 32 || $0.value == 127 ? "?" : Character($0) })
}
