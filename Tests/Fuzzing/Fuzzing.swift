import Foundation
import LodestoreBytes

// The functions that libFuzzer calls; libFuzzer has the program's `main`.

/// The target that LODESTORE_FUZZ_TARGET names; set before the first input.
nonisolated(unsafe) private var target = FuzzTarget.all[0]

/// Chooses the target.
///
/// With LODESTORE_FUZZ_SEEDS it writes the seeds of all targets into that folder, one folder for
/// each, and ends the process.
@_cdecl("LLVMFuzzerInitialize")
public func initializeFuzzing(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> CInt {
  let environment = ProcessInfo.processInfo.environment
  if let folder = environment["LODESTORE_FUZZ_SEEDS"] {
    do { try writeSeeds(to: folder) } catch { fatalError("cannot write the seeds: \(error)") }
    exit(0)
  }
  let name = environment["LODESTORE_FUZZ_TARGET"]
  guard let chosen = FuzzTarget.all.first(where: { $0.name == name }) else {
    print("LODESTORE_FUZZ_TARGET must name one of: \(FuzzTarget.all.map(\.name))")
    exit(2)
  }
  target = chosen
  return 0
}

/// Runs the target on one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func runInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do { try target.run(ByteView(start: bytes, count: count)) } catch {}
  return 0
}

private func writeSeeds(to folder: String) throws {
  for target in FuzzTarget.all {
    let place = URL(fileURLWithPath: folder).appendingPathComponent(target.name)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    for (number, seed) in try target.seeds().enumerated() {
      try Data(seed).write(to: place.appendingPathComponent("seed-\(number)"))
    }
    print("\(target.name) \(target.longestInput)")
  }
}

/// The lines of a file next to this one, which has one text a line.
func seedLines(_ name: String) throws -> [[UInt8]] {
  let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Corpus").appendingPathComponent(name)
  return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { Array($0.utf8) }
}
