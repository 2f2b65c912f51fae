internal import Foundation
internal import LodestoreJSON

/// An object in a signed file, whose members are read with a bound on every value.
///
/// Members that are not read are allowed, because a later publisher may add some.
struct SignedObject {
  private let node: JSONNode
  private let file: SignedFile
  private let path: String

  private init(_ node: JSONNode, of file: SignedFile, at path: String) throws(DatasetError) {
    guard node.kind == .object else {
      throw .malformed(file, at: path, found: node.kindName, expected: "an object")
    }
    self.node = node
    self.file = file
    self.path = path
  }

  /// Parses a file's JSON, whose value must be an object.
  init(parsing bytes: some Collection<UInt8>, of file: SignedFile) throws(DatasetError) {
    let limits = JSONLimits(depth: 16, bytes: file.byteLimit, values: 1 << 16)
    let document: JSONDocument
    do throws(JSONError) {
      document = try JSONDocument.parsing(bytes, limits: limits)
    } catch {
      throw DatasetError(
        .malformed, "cannot read \(file.words): \(error.description); report it to the publisher",
        cause: error)
    }
    try self.init(document.root, of: file, at: "")
  }

  // MARK: Members

  func text(_ key: String, atMost limit: Int) throws(DatasetError) -> String {
    guard let text = try optionalText(key, atMost: limit) else { throw missing(key) }
    return text
  }

  func optionalText(_ key: String, atMost limit: Int) throws(DatasetError) -> String? {
    guard let node = node[key] else { return nil }
    guard let text = node.string, text.utf8.count <= limit else {
      throw refused(node, key, "a text of at most \(limit) bytes")
    }
    return text
  }

  func number(_ key: String, in range: ClosedRange<UInt64>) throws(DatasetError) -> UInt64 {
    guard let node = node[key] else { throw missing(key) }
    guard node.kind == .integer, let number = node.uint64, range.contains(number) else {
      throw refused(node, key, "an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A member that holds bytes in Base64.
  func bytes(_ key: String, atMost limit: Int) throws(DatasetError) -> [UInt8] {
    let text = try text(key, atMost: (limit + 2) / 3 * 4)
    guard let bytes = Base64Text.decoded(text), bytes.count <= limit else {
      throw .malformed(
        file, at: place(key), found: "a text of \(text.utf8.count) bytes", expected: "Base64")
    }
    return bytes
  }

  func digest(_ key: String) throws(DatasetError) -> FileDigest {
    try value(key, atMost: 64, "64 hexadecimal digits in lower case") { FileDigest($0) }
  }

  /// A member that holds bytes in hexadecimal, of a length that this library does not fix.
  func hexText(_ key: String) throws(DatasetError) -> String {
    try value(key, atMost: 128, "hexadecimal digits in lower case") { text in
      HexText.decoded(text).flatMap { $0.isEmpty ? nil : text }
    }
  }

  /// A date of the years 0 to 9999, in UTC and in the form of RFC 3339.
  func date(_ key: String) throws(DatasetError) -> Date {
    try value(key, atMost: 40, "a date such as 2026-11-28T02:00:00Z") { text in
      let isSigned = [UInt8(ascii: "-"), UInt8(ascii: "+")].contains(text.utf8.first)
      return isSigned || text.utf8.last != UInt8(ascii: "Z") ? nil : ISO8601Text.date(text)
    }
  }

  /// A file name within one folder, such as `42-5d1c.lodestore.zst`.
  func fileName(_ key: String) throws(DatasetError) -> String {
    let expected = "a file name of letters, digits, '-', '_' and '.'"
    return try value(key, atMost: PublishedNames.byteLimit, expected) { name in
      PublishedNames.isFileName(name) ? name : nil
    }
  }

  func datasetName(_ key: String) throws(DatasetError) -> String {
    try value(key, atMost: PublishedNames.byteLimit, "the name of a dataset") { name in
      PublishedNames.isDatasetName(name) ? name : nil
    }
  }

  /// A member whose text `read` understands.
  private func value<Value>(
    _ key: String, atMost limit: Int, _ expected: String, _ read: (String) -> Value?
  ) throws(DatasetError) -> Value {
    let text = try text(key, atMost: limit)
    guard let value = read(text) else {
      throw .malformed(
        file, at: place(key), found: "'\(DatasetError.visible(text))'", expected: expected)
    }
    return value
  }

  // MARK: Containers

  func object(_ key: String) throws(DatasetError) -> SignedObject {
    guard let node = node[key] else { throw missing(key) }
    return try SignedObject(node, of: file, at: place(key))
  }

  func elements(_ key: String, atMost limit: Int) throws(DatasetError) -> [SignedObject] {
    var objects: [SignedObject] = []
    for (index, node) in try nodes(key, atMost: limit).enumerated() {
      objects.append(try SignedObject(node, of: file, at: "\(place(key)).\(index)"))
    }
    return objects
  }

  func texts(_ key: String, atMost limit: Int, bytes: Int) throws(DatasetError) -> [String] {
    var texts: [String] = []
    for (index, node) in try nodes(key, atMost: limit).enumerated() {
      guard let text = node.string, text.utf8.count <= bytes else {
        throw refused(node, "\(key).\(index)", "a text of at most \(bytes) bytes")
      }
      texts.append(text)
    }
    return texts
  }

  /// Counts by name, such as the records of each entity.
  ///
  /// `limit` also bounds the sum of the counts.
  func counts(_ key: String, atMost limit: Int) throws(DatasetError) -> [String: Int] {
    guard let node = node[key] else { throw missing(key) }
    guard node.kind == .object, node.count <= limit else {
      throw refused(node, key, "an object of at most \(limit) members")
    }
    var counts: [String: Int] = [:]
    var sum: Int64 = 0
    for (name, value) in node.members {
      guard name.utf8.count <= 1024, value.kind == .integer, let count = value.int64, count >= 0,
        count <= Int64(PublishedNames.numberLimit) - sum
      else { throw refused(value, "\(key).\(DatasetError.visible(name))", "a count") }
      sum += count
      counts[name] = Int(count)
    }
    return counts
  }

  private func nodes(_ key: String, atMost limit: Int) throws(DatasetError) -> [JSONNode] {
    guard let node = node[key] else { throw missing(key) }
    guard node.kind == .array, node.count <= limit else {
      throw refused(node, key, "an array of at most \(limit) elements")
    }
    return Array(node.elements)
  }

  /// Refuses versions that this library does not know.
  ///
  /// Call it before any other member is read.
  func requireVersion(_ known: UInt64) throws(DatasetError) {
    let version = try number("version", in: 1...PublishedNames.numberLimit)
    guard version <= known else { throw .newerFormat(file, version: version, known: known) }
  }

  // MARK: Errors

  private func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  private func missing(_ key: String) -> DatasetError {
    .malformed(file, at: path, found: "no member '\(key)'", expected: "one")
  }

  private func refused(_ node: JSONNode, _ key: String, _ expected: String) -> DatasetError {
    let found = node.numberText.map { DatasetError.visible($0) } ?? node.kindName
    return .malformed(file, at: place(key), found: found, expected: expected)
  }
}
