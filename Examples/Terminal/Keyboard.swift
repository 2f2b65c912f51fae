import Dispatch
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The keys typed at a terminal, delivered without waiting for a line.
///
///     guard let keyboard = Keyboard.standardInput() else { return readLines() }
///     defer { keyboard.end() }
///     for await key in keyboard.keys { print(key) }
///
/// While a keyboard exists, the terminal does not show the typed characters by itself. The
/// terminal's state is restored after ``end()``, and when the process ends, except by SIGKILL.
public final class Keyboard: Sendable {
  /// The pressed keys; the sequence ends when the terminal is closed, or after ``end()``.
  public let keys: AsyncStream<Key>
  // Dispatch allows cancelling from any thread, but does not declare this on Linux.
  private nonisolated(unsafe) let source: any DispatchSourceRead
  private let sender: AsyncStream<Key>.Continuation

  /// Returns the keyboard of standard input.
  ///
  /// Returns `nil` if standard input is not a terminal, or another keyboard exists.
  public static func standardInput() -> Keyboard? { Keyboard(STDIN_FILENO) }

  /// Returns `nil` if the descriptor is not a terminal, or another keyboard exists.
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

  /// Restores the previous state of the terminal.
  public func end() {
    source.cancel()
    sender.finish()
    RawMode.end()
  }
}
