// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// kvdump in a terminal of its own, with keys and a screen.
///
/// Keys are typed when the program is ready for them, and never by a clock.
final class PseudoTerminal {
  /// The time after which a wait for the program fails, so that a test of a hung program ends.
  private static let patience = Duration.seconds(120)

  private let controller: Int32
  private let device: Int32
  private let process = Process()
  /// The output that no call of ``expect(_:sourceLocation:)`` has passed yet.
  private var rest: [UInt8] = []

  /// Whether the machine has the library that edits the lines; prints a message if it has not.
  static let hasEditor: Bool = {
    let names = ["libedit.so.2", "libedit.so.0", "libedit.so"]
    let found = names.contains { dlopen($0, RTLD_LAZY) != nil }
    if !found { print("skipped: no libedit") }
    return found
  }()

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
  func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let bytes = Array(text.utf8)
    let end = ContinuousClock.now + Self.patience
    while true {
      if let range = rest.firstRange(of: bytes) {
        rest.removeSubrange(..<range.upperBound)
        return
      }
      let isRunning = process.isRunning
      guard readSome() || isRunning && ContinuousClock.now < end else {
        let shown = String(decoding: rest, as: UTF8.self).debugDescription
        Issue.record("no \(text) in \(shown)", sourceLocation: sourceLocation)
        return
      }
    }
  }

  /// Waits for the prompt, and until its program takes single keys.
  ///
  /// libedit shows the prompt first, while the terminal still makes lines of keys. The terminal
  /// would take the end of input for itself, and libedit would not see the key.
  func expectPrompt(_ prompt: String = "a> ", sourceLocation: SourceLocation = #_sourceLocation) {
    expect(prompt, sourceLocation: sourceLocation)
    wait(for: "single keys", sourceLocation) { mode.c_lflag & tcflag_t(ICANON) == 0 }
  }

  /// Waits until the prompt has started the command `name`, and until that has its signal handlers.
  func expectCommand(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
    wait(for: "a process of \(name)", sourceLocation) {
      processes.dropFirst().last.map { Self.handlesSignals($0, of: name) } ?? false
    }
  }

  /// Whether a process runs the command, and handles the signal SIGTERM.
  ///
  /// A new process has the words of the prompt until it runs the program. The program sets this
  /// handler after those of faults and of Control-C.
  private static func handlesSignals(_ process: pid_t, of command: String) -> Bool {
    func text(_ file: String) -> String {
      (try? String(contentsOfFile: "/proc/\(process)/\(file)", encoding: .utf8)) ?? ""
    }
    guard text("cmdline").split(separator: "\0").contains(where: { $0 == command }) else {
      return false
    }
    let caught = text("status").split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
    let mask = caught?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
    return mask >> UInt64(SIGTERM - 1) & 1 == 1
  }

  private func wait(
    for state: String, _ sourceLocation: SourceLocation, until isReached: () -> Bool
  ) {
    let end = ContinuousClock.now + Self.patience
    while !isReached() {
      guard ContinuousClock.now < end else {
        Issue.record("no \(state)", sourceLocation: sourceLocation)
        return
      }
      usleep(1_000)
    }
  }

  /// Types the keys, waits for the end, and returns the exit status; `nil` if the program does not
  /// end.
  func end(typing keys: String = "") -> Int32? {
    if !keys.isEmpty { type(keys) }
    let end = ContinuousClock.now + Self.patience
    while process.isRunning {
      guard ContinuousClock.now < end else { return nil }
      _ = readSome()
    }
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

  private var mode: termios {
    var mode = termios()
    #expect(tcgetattr(device, &mode) == 0)
    return mode
  }

  /// Whether the terminal shows typed keys and makes lines and signals of them.
  var isInUsualMode: Bool {
    let mode = mode
    return [ECHO, ICANON, ISIG].allSatisfy { mode.c_lflag & tcflag_t($0) != 0 }
      && mode.c_cc.0 == 3
  }

  /// Reads the output, or waits a moment for it; returns false without output.
  private func readSome() -> Bool {
    var request = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, 10) > 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(controller, &bytes, bytes.count)
    rest += bytes.prefix(max(count, 0))
    return count > 0
  }
}
