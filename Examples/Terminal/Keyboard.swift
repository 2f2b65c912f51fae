import Dispatch
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The keys of a terminal, each at once.
///
///     guard let keyboard = Keyboard.standardInput() else { return readLines() }
///     defer { keyboard.end() }
///     for await key in keyboard.keys { print(key) }
///
/// While a keyboard exists, the terminal does not show the typed characters by itself. The
/// terminal's state is restored after ``end()``, and when the process ends, except by SIGKILL.
public final class Keyboard: Sendable {
  /// The keys as they are pressed; over when the terminal is gone, or after ``end()``.
  public let keys: AsyncStream<Key>
  // Cancelled from any thread, which Dispatch allows and does not declare on Linux.
  private nonisolated(unsafe) let source: any DispatchSourceRead
  private let sender: AsyncStream<Key>.Continuation

  /// The keyboard of standard input; `nil` where that is no terminal, or another one has it.
  public static func standardInput() -> Keyboard? { Keyboard(STDIN_FILENO) }

  /// The keyboard of a terminal; `nil` where the descriptor is of none, or another one has it.
  init?(_ descriptor: Int32) {
    guard RawMode.begin(on: descriptor) else { return nil }
    (keys, sender) = AsyncStream.makeStream()
    source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "keyboard"))
    let decoder = Mutex(KeyDecoder())
    let sender = sender
    source.setEventHandler {
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = read(descriptor, &bytes, bytes.count)
      if count > 0 {
        for key in decoder.withLock({ $0.keys(in: bytes.prefix(count)) }) { sender.yield(key) }
      } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
        sender.finish()
      }
    }
    source.activate()
  }

  /// Gives the terminal back as it was.
  public func end() {
    source.cancel()
    sender.finish()
    RawMode.end()
  }
}
