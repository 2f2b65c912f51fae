internal import LodestoreBytes

/// A message of a server that sends its log.
enum ReplicationMessage {
  /// A message of the output plug-in, with the server's position when it was sent.
  case data(start: LogPosition, end: LogPosition, ByteView)
  /// The server's position; a server that asks for a reply ends the connection without one.
  case keepalive(end: LogPosition, asksForReply: Bool)

  init(_ bytes: ByteView) throws(PostgresError) {
    var reader = MessageReader(bytes, "a message of the replication")
    switch try reader.byte() {
    case UInt8(ascii: "w"):
      let start = try reader.position()
      let end = try reader.position()
      _ = try reader.int64()
      self = .data(start: start, end: end, reader.rest())
    case UInt8(ascii: "k"):
      let end = try reader.position()
      _ = try reader.int64()
      self = .keepalive(end: end, asksForReply: try reader.byte() == 1)
      try reader.end()
    case let kind: throw reader.failure("has the unknown kind \(kind)")
    }
  }

  /// The message by which a receiver reports its positions.
  ///
  /// - Parameter microseconds: the time since 2000-01-01.
  static func status(
    received: LogPosition, durable: LogPosition, microseconds: Int64, asksForReply: Bool
  ) -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "r")]
    // The server removes log up to the second position.
    for value in [received.rawValue, durable.rawValue, durable.rawValue] {
      bytes.appendBigEndian(value)
    }
    bytes.appendBigEndian(microseconds)
    bytes.append(asksForReply ? 1 : 0)
    return bytes
  }
}

extension [UInt8] {
  /// Appends an integer with its most significant byte first.
  mutating func appendBigEndian(_ value: some FixedWidthInteger & BitwiseCopyable) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
