import LodestoreBytes
import LodestoreSystem

/// The destination of an output stream's bytes.
package protocol ByteSink: AnyObject {
  /// Writes all the bytes or throws.
  func write(_ bytes: ByteView) throws
  /// Called once, when the command has ended and holds nothing open.
  func finish() throws
}

extension ByteSink {
  package func finish() {}
}

/// An open file descriptor, which the sink does not own.
final class DescriptorSink: ByteSink {
  private let descriptor: Int32
  private let name: String

  init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  func write(_ bytes: ByteView) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.writeSome(to: descriptor)
      if written >= 0 {
        rest = rest.dropFirst(written)
        continue
      }
      let code = errno
      switch code {
      case EINTR: continue
      case EAGAIN: waitUntilWritable()
      case EPIPE: throw CommandFailure.outputClosed
      default: throw CommandFailure.system(code, thing: name)
      }
    }
  }

  /// Waits until a full pipe, made non-blocking by another process, accepts bytes.
  private func waitUntilWritable() {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&request, 1, -1)
  }
}

/// A sink in memory, for tests.
package final class MemorySink: ByteSink {
  private(set) var bytes: [UInt8] = []

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package init() {}

  package func write(_ bytes: ByteView) { self.bytes.append(contentsOf: bytes) }
}
