internal import LodestoreDatasets
internal import LodestoreEssentials
internal import LodestoreFormat
internal import LodestoreJSON

/// A JSON object of a replica, whose members are read with a bound on every value.
///
/// Members that are not read are allowed, because a later library may add some.
struct ReplicaObject {
  /// The maximum size of an object in bytes.
  static let byteLimit = 4 << 20
  /// The version of all objects.
  private static let version: UInt64 = 1

  private let node: JSONNode
  let name: String

  /// Parses an object's JSON, refuses versions that this library does not know, and compares the
  /// checksum.
  init(_ bytes: [UInt8], _ name: String) throws(PackError) {
    let limits = JSONLimits(depth: 8, bytes: Self.byteLimit, values: 1 << 17)
    do throws(JSONError) {
      node = try JSONDocument.parsing(bytes, limits: limits).root
    } catch { throw .damaged("'\(visible(name))'", error.description) }
    self.name = name
    guard node.kind == .object else { throw fault("it is no object") }
    let version = try number("version", 1...PackLimits.number)
    guard version == Self.version else {
      throw .newer("'\(visible(name))'", "it has version \(version)")
    }
    // A changed digit would otherwise be another slot or another date.
    guard ReplicaObjectWriter.hasChecksum(bytes) else { throw fault("its checksum does not fit") }
  }

  private init(_ node: JSONNode, _ name: String) throws(PackError) {
    self.node = node
    self.name = name
    guard node.kind == .object else { throw fault("a member is no object") }
  }

  func fault(_ reason: String) -> PackError { .damaged("'\(visible(name))'", reason) }

  func wrong(_ key: String) -> PackError { fault("it has no '\(key)' as it must be") }

  func has(_ key: String) -> Bool { node[key] != nil }

  /// The keys of the members, in the order of the text.
  var keys: [String] { node.members.map(\.0) }

  func object(_ key: String) throws(PackError) -> ReplicaObject {
    guard let member = node[key] else { throw wrong(key) }
    return try ReplicaObject(member, name)
  }

  /// - Parameter limit: The maximum length in bytes.
  func text(_ key: String, atMost limit: Int = PackLimits.text) throws(PackError) -> String {
    guard let text = node[key]?.string, text.utf8.count <= limit else {
      throw wrong(key)
    }
    return text
  }

  func number(_ key: String, _ range: ClosedRange<UInt64>) throws(PackError) -> UInt64 {
    guard let member = node[key], member.kind == .integer, let number = member.uint64,
      range.contains(number)
    else { throw wrong(key) }
    return number
  }

  func digest(_ key: String) throws(PackError) -> FileDigest {
    guard let digest = FileDigest(try text(key)) else { throw wrong(key) }
    return digest
  }

  func uuid(_ key: String) throws(PackError) -> UUIDBytes {
    guard let uuid = UUIDBytes(text: try text(key)) else { throw wrong(key) }
    return uuid
  }

  /// A date of the years 0 to 9999, in UTC and in the form of RFC 3339, as seconds since 2001.
  func date(_ key: String) throws(PackError) -> Double {
    let text = try text(key)
    guard text.utf8.last == UInt8(ascii: "Z"), text.utf8.count <= 40,
      text.utf8.first.map({ $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") }) ?? false,
      let date = ISO8601Text.date(text)
    else { throw wrong(key) }
    return date.timeIntervalSinceReferenceDate
  }

  /// The digests of a store: an object with hexadecimal keys and values.
  func digests(_ key: String) throws(PackError) -> [[UInt8]: ContentDigest] {
    guard let member = node[key], member.kind == .object, member.count <= 1 << 14 else {
      throw wrong(key)
    }
    var digests: [[UInt8]: ContentDigest] = [:]
    for (name, value) in member.members {
      guard let content = HexText.decoded(name),
        content._withBytes({ DigestedContent(key: $0) }) != nil,
        let bytes = value.string.flatMap(HexText.decoded),
        let digest = bytes._withBytes({ ContentDigest(bytes: $0) }),
        digests.updateValue(digest, forKey: content) == nil
      else { throw wrong(key) }
    }
    return digests
  }
}

/// Writes a JSON object of a replica.
struct ReplicaObjectWriter {
  private var writer = JSONWriter(.pretty)

  static func bytes(_ body: (inout ReplicaObjectWriter) -> Void) -> [UInt8] {
    var object = ReplicaObjectWriter()
    object.writer.beginObject()
    object.number("version", 1)
    body(&object)
    object.text(checksumKey, noChecksum)
    object.writer.endObject()
    return withChecksum(object.writer.bytes)
  }

  // MARK: Checksum

  private static let checksumKey = "checksum"
  private static let noChecksum = "00000000"
  /// The number of bytes of the last member, and of the end of the object.
  private static let checksumLength = "\"\(checksumKey)\": \"\(noChecksum)\"\n}".utf8.count

  /// Puts the checksum into the last member of an object, which must be there.
  static func withChecksum(_ bytes: [UInt8]) -> [UInt8] {
    var checksum = Checksum()
    let content = bytes[..<(bytes.count - checksumLength)]
    content._withBytes { checksum.combine($0) }
    let digits = (0..<4).map { UInt8(truncatingIfNeeded: checksum.value >> (24 - 8 * $0)) }
    return Array(content) + Array("\"\(checksumKey)\": \"\(HexText.encoded(digits))\"\n}".utf8)
  }

  fileprivate static func hasChecksum(_ bytes: [UInt8]) -> Bool {
    bytes.count > checksumLength && withChecksum(bytes) == bytes
  }

  mutating func text(_ key: String, _ value: String) {
    writer.key(key)
    writer.string(value)
  }

  mutating func number(_ key: String, _ value: UInt64) {
    writer.key(key)
    writer.unsigned(value)
  }

  /// Writes a date with the precision of ``ISO8601Text``.
  mutating func date(_ key: String, _ seconds: Double) {
    text(key, ISO8601Text.text(Date(timeIntervalSinceReferenceDate: seconds)) ?? "")
  }

  mutating func object(_ key: String, _ body: (inout ReplicaObjectWriter) -> Void) {
    writer.key(key)
    writer.beginObject()
    body(&self)
    writer.endObject()
  }

  mutating func digests(_ key: String, _ digests: [[UInt8]: ContentDigest]) {
    object(key) { object in
      for (key, digest) in digests.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        object.text(HexText.encoded(key), HexText.encoded(digest.bytes))
      }
    }
  }
}
