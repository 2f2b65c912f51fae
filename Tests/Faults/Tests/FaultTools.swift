// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import Testing

/// The shim, built once for all tests; `nil` with a printed message if it cannot be built.
enum ShimLibrary {
  static let path: String? = {
    #if os(Linux) && canImport(Glibc)
      let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("shim.c").path
      let library = NSTemporaryDirectory() + "lodestore-shim-\(getpid()).so"
      for compiler in ["cc", "clang"] {
        let options = "-shared -fPIC -O1"
        let line =
          "exec \(compiler) \(options) -o '\(library)' '\(source)' -ldl -lpthread 2>/dev/null"
        if (try? status(of: line)) == 0 { return library }
      }
      print("skipped: faults of the system, as there is neither cc nor clang")
    #else
      print("skipped: faults of the system, which need Linux and glibc")
    #endif
    return nil
  }()

  private static func status(of line: String) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", line]
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}

/// A program that is built next to the tests; `nil` with a printed message if it is missing.
func builtProgram(_ name: String) -> String? {
  let path = CommandLine.arguments.first.map {
    URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/" + name
  }
  if let path, FileManager.default.isExecutableFile(atPath: path) { return path }
  print("skipped: no \(name) beside the tests")
  return nil
}

/// A folder, in memory if the system has a memory file system.
///
/// The folder is deleted with the last reference to the object.
final class FaultFolder {
  let path: String

  init() throws {
    let memory = "/dev/shm/"
    let parent =
      FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    path = parent + "lodestore-faults-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func names() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: path))
  }
}

/// The settings of the tests in the environment.
enum FaultSettings {
  static func text(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

  static let seed: UInt64 = {
    let seed = text("LODESTORE_SEED").flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    print("LODESTORE_SEED=\(seed) repeats the random choices of FaultTests")
    return seed
  }()
}

/// Random numbers that a seed repeats (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(salt: UInt64) { state = FaultSettings.seed &+ salt &* 0x9e37_79b9_7f4a_7c15 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}

/// A process with the preloaded shim, which receives and answers lines of text.
final class ShimmedProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffered: [UInt8] = []

  /// The reason why the process did not answer.
  enum Silence: Error, CustomStringConvertible {
    case ended(signal: Int32?, status: Int32)
    case timedOut

    var description: String {
      switch self {
      case .ended(let signal?, _): "ended by signal \(signal)"
      case .ended(nil, let status): "ended with status \(status)"
      case .timedOut: "hangs"
      }
    }
  }

  init(_ program: String, _ arguments: [String], shim: String) throws {
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["LD_PRELOAD": shim]) { $1 }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  deinit { stop() }

  /// Closes the input of the process, and kills the process if it still runs.
  func stop() {
    try? input.fileHandleForWriting.close()
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  func write(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Returns the next line; throws ``Silence`` when none comes within `seconds`.
  func line(within seconds: Double = 60) throws -> String {
    let deadline = Date().addingTimeInterval(seconds)
    while true {
      if let end = buffered.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffered.removeSubrange(...end) }
        return String(decoding: buffered[..<end], as: UTF8.self)
      }
      let file = output.fileHandleForReading.fileDescriptor
      var request = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, 200) > 0 else {
        if Date() < deadline { continue }
        kill(process.processIdentifier, SIGKILL)
        throw Silence.timedOut
      }
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = read(file, &chunk, chunk.count)
      guard count > 0 else {
        process.waitUntilExit()
        let isSignal = process.terminationReason == .uncaughtSignal
        throw Silence.ended(
          signal: isSignal ? process.terminationStatus : nil, status: process.terminationStatus)
      }
      buffered += chunk[..<count]
    }
  }
}
