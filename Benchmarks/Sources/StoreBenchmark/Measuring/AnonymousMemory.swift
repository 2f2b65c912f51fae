import CRecords
import Foundation
import Synchronization

/// Memory of this process, in bytes.
enum AnonymousMemory {
  /// The memory that belongs to no file.
  static var current: Int { kibibytes("RssAnon:") << 10 }

  /// The largest memory that the process ever used, including cached pages of files.
  static var peakOfAll: Int { kibibytes("VmHWM:") << 10 }

  /// Returns the largest memory use while `body` runs, minus the use before it.
  ///
  /// - Parameter interval: The time between two samples, in microseconds. Sampling takes processor
  ///   time. A processor time that is measured at the same time includes it.
  static func growth(
    lookingEvery interval: UInt32 = 2_000, _ body: () throws -> Void
  ) throws -> Double {
    raw_trim_memory()
    let before = current
    let watch = MemoryWatch(interval: interval)
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

/// A thread that samples the memory that belongs to no file.
final class MemoryWatch: Sendable {
  private let highest = Atomic(0)
  private let isRunning = Atomic(true)

  /// - Parameter interval: The time between two samples, in microseconds.
  init(interval: UInt32 = 2_000) {
    Thread.detachNewThread { [self] in
      while isRunning.load(ordering: .acquiring) {
        look()
        usleep(interval)
      }
    }
  }

  /// The largest sample so far.
  var peak: Int {
    look()
    return highest.load(ordering: .acquiring)
  }

  func stop() { isRunning.store(false, ordering: .releasing) }

  private func look() { highest.max(AnonymousMemory.current, ordering: .acquiringAndReleasing) }
}
