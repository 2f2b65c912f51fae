/// The start line and the fields of an HTTP request, parsed strictly.
struct RequestHead: Sendable, Equatable {
  /// The reason why a request is not answered by a page; the connection ends after it.
  struct Fault: Error, Equatable {
    var status: Int
    var text: String

    init(_ status: Int, _ text: String) {
      self.status = status
      self.text = text
    }
  }

  /// The maximum number of bytes of a head.
  static let longest = 32 << 10
  /// The maximum number of fields.
  static let mostFields = 100

  var method: String
  /// The path and the query, as the client sent them.
  var target: String
  /// The minor version of HTTP/1: 0 or 1.
  var minorVersion: Int
  /// The fields with their names in lower case.
  private(set) var fields: [String: String] = [:]

  /// The length of the body that follows the head.
  private(set) var bodyLength = 0

  /// The value of a field; the name must be in lower case.
  subscript(name: String) -> String? { fields[name] }

  /// Whether the client may send another request on the connection.
  var keepsAlive: Bool {
    let options = (fields["connection"] ?? "").lowercased().split { ", \t".contains($0) }
    return minorVersion == 1 && !options.contains("close")
  }

  /// Whether the client sends the body only after the server has asked for it.
  var expectsContinue: Bool { fields["expect"]?.lowercased() == "100-continue" }

  /// Parses the lines of a head, without the empty line at its end.
  init(_ bytes: ArraySlice<UInt8>) throws(Fault) {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    func line(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
      bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
    }
    // A client may send an empty line before its request.
    while let first = lines.first, line(first).isEmpty { lines.removeFirst() }
    guard let start = lines.popFirst() else { throw Self.badStart }
    let parts = line(start).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 3, let method = Self.token(parts[0]), method.utf8.count <= 32,
      let target = Self.visible(parts[1])
    else { throw Self.badStart }
    guard target.utf8.count <= Address.longest else {
      throw Fault(414, "The address is longer than \(Address.longest) bytes.")
    }
    switch String(decoding: parts[2], as: UTF8.self) {
    case "HTTP/1.1": minorVersion = 1
    case "HTTP/1.0": minorVersion = 0
    case let version where version.hasPrefix("HTTP/"):
      throw Fault(505, "This server speaks HTTP/1.1.")
    default: throw Self.badStart
    }
    self.method = method
    self.target = target
    guard lines.count <= Self.mostFields else {
      throw Fault(431, "The request has more than \(Self.mostFields) header fields.")
    }
    for bytes in lines { try addField(line(bytes)) }
    try readBodyLength()
  }

  private static let badStart = Fault(400, "The request has no valid start line.")

  private mutating func addField(_ line: ArraySlice<UInt8>) throws(Fault) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
      let name = Self.token(line[..<colon])?.lowercased(),
      let value = Self.value(line[(colon + 1)...])
    else { throw Fault(400, "The request has a header field that is not valid.") }
    guard fields.updateValue(value, forKey: name) == nil else {
      // Programs on the way might take the first of two equal fields, and this one the last.
      throw Fault(400, "The request has the header field '\(name)' twice.")
    }
  }

  private mutating func readBodyLength() throws(Fault) {
    guard fields["transfer-encoding"] == nil else {
      throw Fault(411, "A body needs the header field Content-Length.")
    }
    guard let text = fields["content-length"] else { return }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw Fault(400, "The header field Content-Length is not a number.")
    }
    bodyLength = Int(text) ?? .max
  }

  /// A name of letters, digits and a few signs; `nil` for other bytes.
  private static func token(_ bytes: ArraySlice<UInt8>) -> String? {
    let isToken = bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
      default: tokenSigns.contains(byte)
      }
    }
    return bytes.isEmpty || !isToken ? nil : String(decoding: bytes, as: UTF8.self)
  }

  private static let tokenSigns = Set("!#$%&'*+-.^_`|~".utf8)

  /// A text of visible ASCII characters.
  private static func visible(_ bytes: ArraySlice<UInt8>) -> String? {
    bytes.isEmpty || !bytes.allSatisfy { (0x21...0x7E).contains($0) }
      ? nil : String(decoding: bytes, as: UTF8.self)
  }

  private static func value(_ bytes: ArraySlice<UInt8>) -> String? {
    guard bytes.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    var text = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
    return String(validating: text, as: UTF8.self)
  }
}

/// The bytes of a connection that no request has used yet.
struct ReceivedBytes: Sendable {
  private(set) var bytes: [UInt8] = []
  /// The number of bytes in which no end of a head begins.
  private var searched = 0

  var isEmpty: Bool { bytes.isEmpty }

  mutating func append(_ more: [UInt8]) { bytes += more }

  /// Removes and parses the first head; `nil` if its end has not arrived.
  mutating func takeHead() throws(RequestHead.Fault) -> RequestHead? {
    var start = bytes.startIndex
    // An empty line before the start line is not the end of a head.
    while start < bytes.endIndex, bytes[start] == 0x0D || bytes[start] == 0x0A { start += 1 }
    var index = max(searched, start)
    while let end = bytes[index...].firstIndex(of: 0x0A) {
      var next = end + 1
      if next < bytes.endIndex, bytes[next] == 0x0D { next += 1 }
      if next < bytes.endIndex, bytes[next] == 0x0A {
        guard end <= RequestHead.longest else { break }
        let head = try RequestHead(bytes[start..<end])
        bytes.removeFirst(next + 1)
        searched = 0
        return head
      }
      index = end + 1
    }
    guard bytes.count <= RequestHead.longest else {
      throw RequestHead.Fault(
        431, "The request's head is longer than \(RequestHead.longest) bytes.")
    }
    searched = max(start, bytes.count - 3)
    return nil
  }

  /// Removes up to `count` bytes.
  mutating func take(_ count: Int) -> [UInt8] {
    let taken = Array(bytes.prefix(count))
    bytes.removeFirst(taken.count)
    searched = 0
    return taken
  }
}
