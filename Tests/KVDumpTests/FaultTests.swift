import LodestoreSystem
import Testing

@testable import KVDumpCommands

/// A crash ends the program with a sentence, which blames the file only if the file is the cause.
@Suite("Faults that end kvdump")
struct FaultTests {
  private static func deeper(_ level: Int) -> Int {
    withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { bytes in
      bytes[0] = UInt8(truncatingIfNeeded: level)
      return deeper(level + 1) + Int(bytes[0])
    }
  }

  @Test func `a stack overflow ends kvdump with a message and status 70`() async throws {
    let result = try await #require(
      processExitsWith: .exitCode(70), observing: [\.standardErrorContent]
    ) {
      endInWordsOnFaults()
      _ = FaultTests.deeper(0)
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("ended by a fault") && text.contains("kvdump's own"), "\(text)")
  }

  @Test func `a fault in a page that the file lost is reported as a fault of the file`()
    async throws
  {
    let result = try await #require(
      processExitsWith: .exitCode(65), observing: [\.standardErrorContent]
    ) {
      endInWordsOnFaults()
      raise(SIGBUS)
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("the file was cut while in use"), "\(text)")
  }
}
