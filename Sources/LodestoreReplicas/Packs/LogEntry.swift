internal import LodestoreBytes
internal import LodestoreFormat

/// An entry of a replica's log, the object `log/SLOT.lsc`, or net changes of several slots.
///
/// See Format.md, "Replicas". The content of an entry never changes. The SHA-256 of all bytes is
/// the entry's hash, which the next entry has as `previous`.
package struct LogEntry: Sendable, Equatable {
  package let head: EntryHead
  /// The bytes of the object.
  package let bytes: [UInt8]
  /// The SHA-256 of the bytes.
  package let hash: [UInt8]
  /// The offset of the body in the bytes.
  let bodyStart: Int

  /// The first eight bytes.
  static let magic = Array("LODESLOT".utf8)
  static let version: UInt32 = 1
  /// The offset of the head: after the magic, the version, the head's length and the checksum.
  static let headStart = 20

  /// Makes an entry.
  ///
  /// - Throws: `PackError` with the code `tooLarge`, or `damaged` if members of the head
  ///   contradict each other.
  package init(_ head: EntryHead, _ body: PackBody = .empty) throws(PackError) {
    var head = head
    head.changeCount = body.changeCount
    head.stepCount = body.stepCount
    head.unpackedLength = body.unpackedLength
    try head.check(bodyLength: body.bytes.count)
    let document = head.document(
      bodyLength: body.bytes.count,
      bodySHA256: body.bytes.isEmpty ? [] : SHA256.hash(body.bytes)
    ).encoded()
    let start = Self.headStart + document.count
    guard document.count <= PackLimits.head, start + body.bytes.count <= PackLimits.entry,
      body.unpackedLength <= UInt64(PackLimits.unpacked)
    else {
      throw PackError(
        .tooLarge,
        "cannot write the entry of slot \(head.slot): it has \(start + body.bytes.count) bytes, "
          + "at most \(PackLimits.entry) are allowed; write its changes in several parts",
        slot: head.slot)
    }
    var bytes = Self.magic
    bytes.reserveCapacity(start + body.bytes.count)
    bytes += littleEndianBytes(Self.version)
    bytes += littleEndianBytes(UInt32(document.count))
    bytes += littleEndianBytes(Self.checksum(of: bytes[...], document[...]))
    bytes += document
    bytes += body.bytes
    self.init(head, bytes, bodyStart: start)
  }

  private init(_ head: EntryHead, _ bytes: [UInt8], bodyStart: Int) {
    self.head = head
    self.bytes = bytes
    self.bodyStart = bodyStart
    hash = SHA256.hash(bytes)
  }

  /// Reads an entry and checks everything but the changes in its body.
  ///
  /// - Parameter slot: The slot in the object's name; `nil` for any slot.
  /// - Throws: `PackError` with the code `damaged` or `newerFormat`.
  package init(reading bytes: [UInt8], slot: UInt64? = nil) throws(PackError) {
    let object = Self.name(slot)
    guard bytes.count <= PackLimits.entry else {
      throw .damaged(object, "it has \(bytes.count) bytes", slot: slot)
    }
    let start = try Self.bodyStart(of: bytes, object, slot)
    guard start <= bytes.count else {
      throw .damaged(object, "the checksum of its head does not fit", slot: slot)
    }
    let (head, body) = try Self.checkedHead(bytes[..<start], object, slot)
    guard bytes.count - start == body.length,
      body.length == 0 || SHA256.hash(bytes[start...]) == body.sha256
    else {
      throw .damaged(object, "its body is not the one that its head describes", slot: head.slot)
    }
    self.init(head, bytes, bodyStart: start)
  }

  /// Reads the head of an entry, without the body.
  ///
  /// - Parameter bytes: The beginning of the entry.
  /// - Returns: The head; `nil` if it is longer than the bytes.
  static func head(reading bytes: [UInt8], slot: UInt64? = nil) throws(PackError) -> EntryHead? {
    let object = name(slot)
    let start = try bodyStart(of: bytes, object, slot)
    return start <= bytes.count ? try checkedHead(bytes[..<start], object, slot).0 : nil
  }

  private static func name(_ slot: UInt64?) -> String {
    slot.map { "the entry of slot \($0)" } ?? "an entry of the log"
  }

  /// The offset of the body, which may be beyond the bytes.
  private static func bodyStart(
    of bytes: [UInt8], _ object: String, _ slot: UInt64?
  ) throws(PackError) -> Int {
    guard bytes.count >= headStart, bytes.starts(with: magic) else {
      throw .damaged(object, "it is no entry of a log", slot: slot)
    }
    let (version, length) = bytes._withBytes { ($0.uint32(at: 8), $0.uint32(at: 12)) }
    // The place of the checksum belongs to the version, so the version is read first.
    guard version == Self.version else {
      if version > Self.version, version < 1 << 16 {
        throw .newer(object, "it has version \(version)")
      }
      throw .damaged(object, "it has version \(version)", slot: slot)
    }
    guard Int(length) <= PackLimits.head else {
      throw .damaged(object, "the checksum of its head does not fit", slot: slot)
    }
    return headStart + Int(length)
  }

  /// Reads the head in the bytes before the body.
  private static func checkedHead(
    _ bytes: ArraySlice<UInt8>, _ object: String, _ slot: UInt64?
  ) throws(PackError) -> (EntryHead, BodyFacts) {
    let expected = bytes._withBytes { $0.uint32(at: 16) }
    guard checksum(of: bytes[..<16], bytes[headStart...]) == expected else {
      throw .damaged(object, "the checksum of its head does not fit", slot: slot)
    }
    let (head, body) = try readHead(bytes[headStart...], object, slot)
    guard slot == nil || head.slot == slot else {
      throw .damaged(object, "it belongs to slot \(head.slot)", slot: slot)
    }
    return (head, body)
  }

  private static func readHead(
    _ bytes: ArraySlice<UInt8>, _ object: String, _ slot: UInt64?
  ) throws(PackError) -> (EntryHead, BodyFacts) {
    let document: Document
    do throws(FormatError) {
      document = try bytes._withBytes { (bytes) throws(FormatError) in
        try Document(decoding: bytes)
      }
    } catch {
      throw .damaged(object, "its head is no document: \(error.reason)", slot: slot)
    }
    return try EntryHead.read(document)
  }

  private static func checksum(of start: ArraySlice<UInt8>, _ head: ArraySlice<UInt8>) -> UInt32 {
    var checksum = Checksum()
    start._withBytes { checksum.combine($0) }
    head._withBytes { checksum.combine($0) }
    return checksum.value
  }
}
