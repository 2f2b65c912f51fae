import LodestoreBytes

/// A buffered output stream.
package final class TextOutput {
  private let sink: any ByteSink
  private var buffer: [UInt8] = []
  private static let flushSize = 64 * 1024

  init(_ sink: any ByteSink) { self.sink = sink }

  package func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.flushSize { try flush() }
  }

  package func write(_ bytes: [UInt8]) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.flushSize { try flush() }
  }

  package func flush() throws {
    // The buffer is cleared even if the sink throws, because the same bytes must not be written
    // again.
    defer { buffer.removeAll(keepingCapacity: true) }
    try buffer._withBytes { bytes in
      if !bytes.isEmpty { try sink.write(bytes) }
    }
  }

  func finish() throws {
    try flush()
    try sink.finish()
  }
}
