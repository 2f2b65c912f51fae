import LMDB
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

@Suite("Long values in keys")
struct LongBodyTests {
  @Test func `the command keys cuts long values and prints their length`() async throws {
    let store = try VerifiedStore()
    let most = 1 << 20
    let sizes = [most - 4, most - 3, 3 * most]
    try store.change { raw in
      for (number, size) in sizes.enumerated() {
        let key = BucketKey.prefix(bucket: "long") + [UInt8(number)]
        let content = [UInt8](repeating: 0xab, count: size)
        try raw.put(key, Checksum.sealed(key: key, content: content), .buckets)
      }
    }
    let memory = MemoryConsole()
    let status = await KVDump.execute(
      ["keys", store.path, "buckets", "--prefix", "6c 6f 6e 67 00", "--format", "csv"],
      on: memory.console)
    #expect(status == .success, "\(memory.messages.text)")
    let rows = memory.data.text.split(whereSeparator: \.isNewline).dropFirst()
      .map { $0.split(separator: ",", maxSplits: 2) }
    #expect(rows.map { $0[1].count } == [2 * most, 2 * most + 1, 2 * most + 1])
    #expect(rows.map { $0[1].hasSuffix("…") } == [false, true, true])
    #expect(rows.allSatisfy { $0[2].contains("long: ") })
    #expect(memory.messages.text.contains("2 bodies are longer than 1 MiB, and cut there"))
    #expect(try Verifier.verify(path: store.path).isSound)
  }
}
