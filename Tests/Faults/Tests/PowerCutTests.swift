import Foundation
import Testing

/// The power is cut at places of a recorded session.
///
/// Every image must open with each commit that was reported as safe, whole, with indexes that
/// agree, and accept a further commit.
@Suite("Power cuts", .serialized)
struct PowerCutTests {
  /// The number of images to try.
  static let count = FaultSettings.text("LODESTORE_POWER_CUTS").flatMap { Int($0) } ?? 100

  /// The kinds of failing calls in the last part of a session, and the number of such calls to
  /// choose from.
  private static let faults = [("sync", 10), ("write", 60)]

  @Test(arguments: ["full", "lazy"])
  func `a power cut takes back no more than the durability option allows`(durability: String) throws
  {
    guard let shim = ShimLibrary.path, let program = builtProgram("fault-session") else { return }
    let folder = try FaultFolder()
    var random = SeededGenerator(salt: durability == "full" ? 2 : 3)
    // Four fifths of the images are made with the default durability.
    var left = durability == "full" ? Self.count * 4 / 5 : Self.count / 5
    var (imageCount, absentCount, number) = (0, 0, 0)
    while left > 0 {
      let images = PowerCutImages(
        program: program, shim: shim, folder: folder, durability: durability,
        seed: .random(in: 0..<1_000_000, using: &random))
      // Every second session has a call that fails in its last part.
      var fault: [String] = []
      if number % 2 == 1, let (kind, limit) = Self.faults.randomElement(using: &random) {
        fault = [kind, "\(Int.random(in: 1...limit, using: &random))", "\(EIO)"]
      }
      number += 1
      try images.record(length: left > 1_000 ? 30 : 8, fault)
      let count = min(left, max(40, Self.count / 20))
      let result = try images.check(count)
      imageCount += result.count
      absentCount += result.absentCount
      left -= count
      if !result.problems.isEmpty {
        let log = try images.keepLog()
        for problem in result.problems.prefix(20) {
          Issue.record("\(problem); the log is kept in \(log), the seed is \(images.seed)")
        }
        break
      }
    }
    print(
      "\(imageCount) power cuts, \(durability): \(absentCount) before there was a file, others open whole"
    )
  }
}

/// A recorded session and images of it.
struct PowerCutImages {
  let program: String
  let shim: String
  let folder: FaultFolder
  let durability: String
  let seed: UInt64
  private var log: String { folder.file("log") }

  /// - Parameter fault: The kind of the failing call, its number, and its error code; empty for
  ///   none.
  func record(length: Int, _ fault: [String]) throws {
    let store = folder.file("recorded")
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: store) }
    let process = try ShimmedProcess(
      program, ["record", store, log, "\(seed)", "\(length)", durability] + fault, shim: shim)
    defer { process.stop() }
    let line = try process.line()
    try #require(line.hasPrefix("ok"), "\(line), seed \(seed)")
  }

  /// Returns the faults of images.
  ///
  /// An image that ends the process is reported, and the rest of the images is skipped.
  func check(_ count: Int) throws -> (count: Int, absentCount: Int, problems: [String]) {
    let process = try ShimmedProcess(
      program, ["images", folder.file("image"), log, "\(seed)", "0", "\(count)", durability],
      shim: "")
    defer { process.stop() }
    var problems: [String] = []
    var last = "none"
    while true {
      do {
        let line = try process.line()
        let words = line.split(separator: " ")
        switch words.first {
        case "image": last = line
        case "done": return (Int(words[1]) ?? 0, Int(words[3]) ?? 0, problems)
        default: problems.append(line)
        }
      } catch {
        return (0, 0, problems + ["\(last): the process \(error)"])
      }
    }
  }

  func keepLog() throws -> String {
    let kept = NSTemporaryDirectory() + "lodestore-power-cut-\(seed).log"
    try? FileManager.default.removeItem(atPath: kept)
    try FileManager.default.copyItem(atPath: log, toPath: kept)
    return kept
  }
}
