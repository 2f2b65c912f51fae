// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// kvdump in a terminal of its own, with keys and a screen.
final class PseudoTerminal {
  private let controller: Int32
  private let device: Int32
  private let process = Process()
  /// All output so far.
  private(set) var screen = ""
  /// The output that no call of ``expect(_:sourceLocation:)`` has passed yet.
  private var rest = ""

  /// Starts a command line; `nil` on a machine without `setsid`, whose tests print a message.
  init?(_ words: [String], environment: [String: String] = [:]) throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid") else {
      print("skipped: no setsid")
      return nil
    }
    // The functions of the C library are not visible from Swift: TIOCSPTLCK and TIOCGPTN.
    controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (lock, number): (Int32, Int32) = (0, 0)
    try #require(ioctl(controller, 0x4004_5431, &lock) == 0)
    try #require(ioctl(controller, 0x8004_5430, &number) == 0)
    device = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(device >= 0)
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
    // The terminal controls the session, so that it makes signals of keys.
    process.arguments = ["--ctty", "--fork", "--wait"] + words
    process.environment = ["TERM": "xterm", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"]
      .merging(environment) { $1 }
    let handle = FileHandle(fileDescriptor: device, closeOnDealloc: false)
    process.standardInput = handle
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
  }

  deinit {
    process.terminate()
    close(controller)
    close(device)
  }

  func type(_ keys: String) {
    let bytes = Array(keys.utf8)
    #expect(write(controller, bytes, bytes.count) == bytes.count)
  }

  /// Types a line and presses the key Return.
  func enter(_ line: String) { type(line + "\r") }

  /// Waits until `text` is shown after the last expected text.
  func expect(
    _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let end = ContinuousClock.now + .seconds(30)
    while rest.firstRange(of: text) == nil {
      guard ContinuousClock.now < end, readSome() else {
        Issue.record("no \(text) in \(rest.debugDescription)", sourceLocation: sourceLocation)
        return
      }
    }
    if let range = rest.firstRange(of: text) { rest = String(rest[range.upperBound...]) }
  }

  /// Waits for the prompt, and until its program takes single keys.
  ///
  /// libedit shows the prompt first. The terminal would still take the end of input for itself.
  func expectPrompt(sourceLocation: SourceLocation = #_sourceLocation) {
    expect("a> ", sourceLocation: sourceLocation)
    let end = ContinuousClock.now + .seconds(30)
    while isInUsualMode, ContinuousClock.now < end { usleep(1_000) }
  }

  /// Waits for the end, and returns the exit status; `nil` if the program does not end.
  ///
  /// - Parameter keys: Keys to type, again after each second: libedit may lose keys that arrive
  ///   while it changes the mode of the terminal.
  func end(typing keys: String = "") -> Int32? {
    let start = ContinuousClock.now
    var typed = 0
    while process.isRunning {
      let time = ContinuousClock.now - start
      guard time < .seconds(60) else { return nil }
      if .seconds(typed) <= time {
        type(keys)
        typed += 1
      }
      _ = readSome(milliseconds: 10)
    }
    while readSome(milliseconds: 10) {}
    return process.terminationStatus
  }

  /// The processes of kvdump, the prompt first.
  var processes: [pid_t] {
    var found: [pid_t] = []
    var last = process.processIdentifier
    while let child = Self.child(of: last) {
      found.append(child)
      last = child
    }
    return found
  }

  private static func child(of process: pid_t) -> pid_t? {
    // Each thread has a list of the processes that it has started.
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task"))
    for thread in threads ?? [] {
      let list = "/proc/\(process)/task/\(thread)/children"
      let text = (try? String(contentsOfFile: list, encoding: .utf8)) ?? ""
      if let child = text.split(separator: " ").first.flatMap({ pid_t($0) }) { return child }
    }
    return nil
  }

  /// Whether the terminal shows typed keys and makes lines and signals of them.
  var isInUsualMode: Bool {
    var mode = termios()
    return tcgetattr(device, &mode) == 0
      && [ECHO, ICANON, ISIG].allSatisfy { mode.c_lflag & tcflag_t($0) != 0 }
      && mode.c_cc.0 == 3
  }

  private func readSome(milliseconds: Int32 = 200) -> Bool {
    var request = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, milliseconds) > 0 else { return process.isRunning && milliseconds > 10 }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(controller, &bytes, bytes.count)
    guard count > 0 else { return false }
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    screen += text
    rest += text
    return true
  }
}
