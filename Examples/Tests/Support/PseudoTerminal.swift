import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A pseudo terminal: a test types on it and reads the program's output.
public final class PseudoTerminal {
  private let keyboard: FileHandle
  /// The end that becomes a program's standard input and output.
  public let program: FileHandle
  /// The output that no call of ``expect(_:)`` has consumed.
  private var rest = ""
  private var bytes: [UInt8] = []

  /// Opens a pseudo terminal.
  public init() throws {
    var (descriptor, terminal) = (Int32(-1), Int32(-1))
    guard openpty(&descriptor, &terminal, nil, nil, nil) == 0 else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
    keyboard = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    program = FileHandle(fileDescriptor: terminal, closeOnDealloc: true)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  /// Types a text.
  public func type(_ text: String) throws { try keyboard.write(contentsOf: Data(text.utf8)) }

  /// Waits until `text` is shown after the text of the previous wait.
  ///
  /// - Returns: The output until then.
  /// - Throws: `CancellationError` when the test takes too long.
  @discardableResult
  public func expect(_ text: String) async throws -> String {
    while true {
      if let found = rest.range(of: text) {
        defer { rest = String(rest[found.upperBound...]) }
        return String(rest[..<found.upperBound])
      }
      try await Task.sleep(for: .milliseconds(5))
      readShown()
    }
  }

  /// Whether the terminal again passes whole lines and shows typed keys, as a shell needs it.
  public var isAsBefore: Bool {
    var mode = termios()
    tcgetattr(program.fileDescriptor, &mode)
    let flags = tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    return mode.c_lflag & flags == flags && mode.c_iflag & tcflag_t(ICRNL) != 0
  }

  private func readShown() {
    var part = [UInt8](repeating: 0, count: 4_096)
    while case let count = read(keyboard.fileDescriptor, &part, part.count), count > 0 {
      bytes += part.prefix(count)
    }
    // The bytes may end in the middle of a character.
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    rest += text
    bytes = []
  }
}
