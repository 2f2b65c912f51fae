internal import LodestoreBytes
internal import LodestoreFormat

/// One run of the encoder: the bytes so far, and the stack of values that are being encoded.
///
/// Values go into one buffer in the order in which they are written. A type may write its members
/// in any order, so an object whose members are not sorted by name is rearranged when it ends.
///
/// Nested containers and the encoder of a superclass can be filled at the same time as the value
/// around them. Each has its own run. Its bytes replace a null in this buffer.
final class DocumentEncoding {
  /// A value that is being encoded.
  struct Frame {
    enum Kind { case empty, single, array, object }

    /// Distinguishes this value from earlier values at the same level.
    ///
    /// A type may have stored the encoder of an earlier value, whose use must fail.
    let serial: Int
    /// The number of arrays and objects around this value.
    let nesting: Int
    var kind = Kind.empty
    var token = 0
    var count = 0
    /// The range of the bytes of the name written last.
    var name = 0..<0
    var isSorted = true
    var pending: [Pending] = []
  }

  /// A value that a separate encoding run encodes; its bytes are inserted when the surrounding
  /// value ends.
  struct Pending {
    /// The offset of the null that stands for the value until its bytes replace the null.
    let offset: Int
    let name: String?
    let encoding: DocumentEncoding
  }

  struct Member {
    let name: Range<Int>
    let start: Int
    let value: Int
    let end: Int
  }

  var writer = DocumentWriter()
  private(set) var frames: [Frame] = []
  private let path: [any CodingKey]
  /// The number of nested encoding calls around this run, which bounds the use of the stack.
  private let calls: Int
  private var lastSerial = 0
  /// The first error in a method of the protocol that cannot throw; the run throws it at its end.
  private var failure: (any Error)?
  private var members: [Member] = []
  private var scratch: [UInt8] = []

  init(path: [any CodingKey], nesting: Int, calls: Int) {
    self.path = path
    self.calls = calls
    if calls == 0 { frames.reserveCapacity(8) }
    push(nesting: nesting)
  }

  private func push(nesting: Int) {
    lastSerial += 1
    frames.append(Frame(serial: lastSerial, nesting: nesting))
  }

  func encodeRoot<T: Encodable>(_ value: T) throws {
    try value.encode(to: top)
    if failure == nil, frames[0].kind == .empty {
      throw EncodingError.invalidValue(
        value,
        EncodingError.Context(
          codingPath: [],
          debugDescription: "cannot store the value: \(T.self) encoded nothing; encode something"))
    }
    try finishTop()
  }

  /// Removes the bytes of a failed run.
  func abandon(to start: Int) {
    frames.removeAll()
    writer.truncate(to: start)
  }

  private var top: DocumentValueEncoder {
    DocumentValueEncoder(encoding: self, level: frames.count - 1, serial: lastSerial)
  }

  /// The encoder of the value that this run encodes; the first value has serial 1.
  var root: DocumentValueEncoder { DocumentValueEncoder(encoding: self, level: 0, serial: 1) }

  /// The number of elements or members written so far for the value at a level.
  func count(_ level: Int, _ serial: Int) -> Int {
    level < frames.count && frames[level].serial == serial ? frames[level].count : 0
  }

  // MARK: Paths

  /// The keys and positions that lead to the value at `level`.
  func codingPath(to level: Int) -> [any CodingKey] {
    var keys = path
    for frame in frames.prefix(level) {
      switch frame.kind {
      case .object:
        let name = writer.withBytes { String(decoding: $0[frame.name], as: UTF8.self) }
        keys.append(PathKey(stringValue: name))
      case .array: keys.append(PathKey(intValue: max(frame.count - 1, 0)))
      case .empty, .single: break
      }
    }
    return keys
  }

  private func misuse(_ level: Int, _ fact: String) -> EncodingError {
    EncodingError.invalidValue(
      fact,
      EncodingError.Context(
        codingPath: codingPath(to: level), debugDescription: "cannot store the value: \(fact)"))
  }

  // MARK: Calls from containers

  /// Makes the value at a level an array or object, unless it already is one.
  func open(_ kind: Frame.Kind, _ level: Int, _ serial: Int) {
    guard failure == nil else { return }
    guard isTop(level, serial) else {
      failure = misuse(level, "a container is asked for after its value has ended")
      return
    }
    guard frames[level].kind == .empty else {
      if frames[level].kind != kind {
        failure = misuse(level, "a type encodes itself as two kinds of value")
      }
      return
    }
    guard frames[level].nesting < Document.deepestNesting else {
      failure = EncodingError.invalidValue(
        kind, DocumentNestingError().context(codingPath(to: level)))
      return
    }
    frames[level].kind = kind
    frames[level].token = kind == .array ? writer.beginArray() : writer.beginObject()
  }

  @inline(__always)
  private func isTop(_ level: Int, _ serial: Int) -> Bool {
    level == frames.count - 1 && frames[level].serial == serial
  }

  /// Throws unless the value at `level` is the one being encoded, and of this kind.
  @inline(__always)
  private func require(_ kind: Frame.Kind, _ level: Int, _ serial: Int) throws {
    guard failure == nil, isTop(level, serial), frames[level].kind == kind else {
      if let failure { throw failure }
      throw misuse(level, "a container is used after its value has ended, or twice")
    }
  }

  @inline(__always)
  private func beginElement(_ level: Int, _ serial: Int) throws {
    try require(.array, level, serial)
    frames[level].count += 1
  }

  private func beginMember(_ name: String, _ level: Int, _ serial: Int) throws {
    try require(.object, level, serial)
    writer.writeName(name)
    let end = writer.count
    let range = (end - name.utf8.count)..<end
    if frames[level].count > 0, frames[level].isSorted {
      let previous = frames[level].name
      frames[level].isSorted = writer.withBytes { bytes in
        DocumentMembers.precedes(bytes[previous], bytes[range])
      }
    }
    frames[level].name = range
    frames[level].count += 1
  }

  func encodeMember<T: Encodable>(_ value: T, _ name: String, _ level: Int, _ serial: Int) throws {
    try attempt(level) {
      try beginMember(name, level, serial)
      try encode(value, level)
    }
  }

  func encodeNullMember(_ name: String, _ level: Int, _ serial: Int) throws {
    try beginMember(name, level, serial)
    writer.writeNull()
  }

  func encodeElement<T: Encodable>(_ value: T, _ level: Int, _ serial: Int) throws {
    try attempt(level) {
      try beginElement(level, serial)
      try encode(value, level)
    }
  }

  func encodeNullElement(_ level: Int, _ serial: Int) throws {
    try beginElement(level, serial)
    writer.writeNull()
  }

  func encodeSingle<T: Encodable>(_ value: T, _ level: Int, _ serial: Int) throws {
    try require(.empty, level, serial)
    try attempt(level) {
      frames[level].kind = .single
      try encode(value, level)
    }
  }

  func encodeSingleNull(_ level: Int, _ serial: Int) throws {
    try require(.empty, level, serial)
    frames[level].kind = .single
    writer.writeNull()
  }

  /// Runs `body`; when it throws, undoes its writes, because a type may catch the error and
  /// continue.
  @inline(__always)
  private func attempt(_ level: Int, _ body: () throws -> Void) throws {
    let start = writer.count
    let before = level < frames.count ? frames[level] : nil
    do { try body() } catch {
      if let before, level < frames.count, frames[level].serial == before.serial {
        frames.removeSubrange((level + 1)...)
        frames[level] = before
        writer.truncate(to: start)
      }
      throw error
    }
  }

  private func encode<T: Encodable>(_ value: T, _ level: Int) throws {
    let frame = frames[level]
    let nesting = frame.kind == .single ? frame.nesting : frame.nesting + 1
    do {
      if try DocumentDirect.write(value, to: &writer, nesting: nesting) { return }
    } catch {
      throw EncodingError.invalidValue(value, error.context(codingPath(to: level + 1)))
    }
    guard calls + frames.count < DocumentCoding.deepestCall else {
      throw EncodingError.invalidValue(
        value, DocumentNestingError().context(codingPath(to: level + 1)))
    }
    push(nesting: nesting)
    try value.encode(to: top)
    try finishTop()
  }

  // MARK: Separately encoded values

  /// The separate encoding run for a member or element that a nested container fills.
  ///
  /// Returns the earlier run of this kind and name, or a new one.
  func nested(_ kind: Frame.Kind, name: String?, _ level: Int, _ serial: Int) -> DocumentEncoding {
    if let name, level < frames.count, frames[level].serial == serial,
      let earlier = frames[level].pending.last(where: { $0.name == name }),
      kind == .empty || earlier.encoding.frames.first?.kind == kind
    {
      return earlier.encoding
    }
    do {
      if let name {
        try encodeNullMember(name, level, serial)
      } else {
        try encodeNullElement(level, serial)
      }
    } catch {
      if failure == nil { failure = error }
    }
    let outer = level < frames.count ? frames[level].nesting : 0
    let nested = DocumentEncoding(
      path: codingPath(to: level + 1), nesting: outer + 1, calls: calls + frames.count)
    if kind != .empty { nested.open(kind, 0, nested.lastSerial) }
    if level < frames.count {
      frames[level].pending.append(
        Pending(offset: writer.count - 1, name: name, encoding: nested))
    }
    return nested
  }

  /// The bytes of a complete run; an object without members when nothing was written.
  private func finished() throws -> [UInt8] {
    if !frames.isEmpty { try finishTop() }
    return writer.bytes
  }

  // MARK: Ending values

  /// Ends the value on top of the stack.
  private func finishTop() throws {
    let level = frames.count - 1
    if frames[level].kind == .empty { open(.object, level, frames[level].serial) }
    if let failure { throw failure }
    let frame = frames[level]
    let isRearranged = !frame.pending.isEmpty || (frame.kind == .object && !frame.isSorted)
    let count = isRearranged ? try rearrange(frame) : frame.count
    guard writer.count - frame.token <= Int(UInt32.max) else {
      throw misuse(level, "it has more than 4 GiB; split it")
    }
    switch frame.kind {
    case .array: writer.endArray(frame.token, count: count)
    case .object: writer.endObject(frame.token, count: count)
    case .empty, .single: break
    }
    frames.removeLast()
  }

  /// Inserts the separately encoded values, and sorts the members by name; returns the number of
  /// members without repeated names.
  ///
  /// Of several members with one name, the last is used, as with Foundation's encoders.
  private func rearrange(_ frame: Frame) throws -> Int {
    let content = frame.token + 8
    // Pending values are in ascending order of offsets, because each null is appended after the
    // earlier ones.
    let pending = try frame.pending.map { (offset: $0.offset, bytes: try $0.encoding.finished()) }
    let isObject = frame.kind == .object
    var count = 0
    try writer.withBytes { bytes in
      try readMembers(of: frame, bytes)
      let name = { (member: Member) in bytes[member.name] }
      if isObject {
        members.sort { a, b in
          if DocumentMembers.precedes(name(a), name(b)) { return true }
          return !DocumentMembers.precedes(name(b), name(a)) && a.start < b.start
        }
      }
      scratch.removeAll(keepingCapacity: true)
      for (index, member) in members.enumerated() {
        let isLast = index + 1 == members.count
        if isObject, !isLast, name(member).elementsEqual(name(members[index + 1])) { continue }
        count += 1
        let next = pending.partitioningIndex { $0.offset >= member.value }
        if next < pending.count, pending[next].offset == member.value {
          scratch += bytes[member.start..<member.value]
          scratch += pending[next].bytes
        } else {
          scratch += bytes[member.start..<member.end]
        }
      }
    }
    writer.truncate(to: content)
    scratch._withBytes { writer.append(encoded: $0) }
    return count
  }

  /// Collects the members or elements of the value that ends.
  private func readMembers(of frame: Frame, _ bytes: ByteView) throws {
    let content = frame.token + 8
    var reader = DocumentReader(bytes[content...])
    members.removeAll(keepingCapacity: true)
    for _ in 0..<frame.count {
      let start = content + reader.offset
      let nameCount = frame.kind == .object ? try reader.name().count : 0
      let value = content + reader.offset
      try reader.skip()
      members.append(
        Member(
          name: (value - nameCount)..<value, start: start, value: value,
          end: content + reader.offset))
    }
  }
}
