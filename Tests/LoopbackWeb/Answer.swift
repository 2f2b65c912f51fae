import Foundation

/// The server's answer to a request, step by step.
package struct Answer: Sendable {
  package enum Step: Sendable {
    case bytes([UInt8])
    case wait(milliseconds: Int)
    /// Waits until the client closes the connection.
    case waitForClient
    case close
    case reset
  }

  package var steps: [Step]

  /// A whole answer, after which the connection stays open.
  package init(
    _ status: Int = 200, _ fields: [String] = ["Content-Type: application/json"],
    body: [UInt8] = []
  ) {
    var fields = fields
    if status != 304 { fields.append("Content-Length: \(body.count)") }
    steps = [.bytes(Self.head(status, fields)), .bytes(body)]
  }

  package init(steps: [Step]) { self.steps = steps }

  /// A page of JSON.
  package static func json(_ text: String, _ fields: String...) -> Answer {
    Answer(200, ["Content-Type: application/json"] + fields, body: Array(text.utf8))
  }

  /// An answer with only a head, followed by other steps.
  package static func head(_ status: Int, _ fields: [String], then steps: Step...) -> Answer {
    Answer(steps: [.bytes(head(status, fields))] + steps)
  }

  /// Bytes as they are; then the connection is closed.
  package static func raw(_ text: String) -> Answer {
    Answer(steps: [.bytes(Array(text.utf8)), .close])
  }

  /// The answers for the first, second and further requests; the last answer repeats.
  package static func each(_ request: LoopbackServer.Request, _ answers: Answer...) -> Answer {
    answers[min(request.number, answers.count) - 1]
  }

  package static let reset = Answer(steps: [.reset])
  package static let never = Answer(steps: [.waitForClient])

  private static func head(_ status: Int, _ fields: [String]) -> [UInt8] {
    let lines = ["HTTP/1.1 \(status) Said"] + fields + ["", ""]
    return Array(lines.joined(separator: "\r\n").utf8)
  }

  /// Text as a gzip member whose blocks are stored, not compressed: RFC 1952 and RFC 1951, 3.2.4.
  package static func gzip(_ content: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
    var rest = content[...]
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      bytes.append(rest.isEmpty ? 1 : 0)
      bytes += littleEndian(UInt16(block.count))
      bytes += littleEndian(~UInt16(block.count))
      bytes += block
    } while !rest.isEmpty
    bytes += littleEndian(checksum(content))
    bytes += littleEndian(UInt32(content.count))
    return bytes
  }

  /// CRC-32 of ISO 3309.
  private static func checksum(_ content: [UInt8]) -> UInt32 {
    var sum = ~UInt32(0)
    for byte in content {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = (sum >> 1) ^ (sum & 1 == 0 ? 0 : 0xEDB8_8320) }
    }
    return ~sum
  }

  private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }
}
