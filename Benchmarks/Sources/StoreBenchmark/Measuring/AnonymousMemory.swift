import CRecords
import Foundation
import Synchronization

/// Memory of this process, in bytes.
enum AnonymousMemory {
  /// What is no file's.
  static var current: Int { kibibytes("RssAnon:") << 10 }

  /// The most that the process ever had, files' pages with it.
  static var peakOfAll: Int { kibibytes("VmHWM:") << 10 }

  /// How much more there is at most while `body` runs than before it.
  static func growth(_ body: () throws -> Void) throws -> Double {
    raw_trim_memory()
    let before = current
    let watch = MemoryWatch()
    defer { watch.stop() }
    try body()
    return Double(max(0, watch.peak - before))
  }

  private static func kibibytes(_ name: String) -> Int {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
  }
}

/// Looks at the memory that is no file's every two milliseconds, on a thread of its own.
final class MemoryWatch: Sendable {
  private let highest = Atomic(0)
  private let isRunning = Atomic(true)

  init() {
    Thread.detachNewThread { [self] in
      while isRunning.load(ordering: .acquiring) {
        look()
        usleep(2_000)
      }
    }
  }

  /// The most so far.
  var peak: Int {
    look()
    return highest.load(ordering: .acquiring)
  }

  func stop() { isRunning.store(false, ordering: .releasing) }

  private func look() { highest.max(AnonymousMemory.current, ordering: .acquiringAndReleasing) }
}
