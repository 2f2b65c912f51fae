import LMDB
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// The counts of imports in a file: the verifier finds counts that no program reads, and every
/// written count can be read.
@Suite("Counts of imports")
struct ImportCountTests {
  private static let report = ImportKey.report(run: 1).bytes(name: "Film")
  private static let highest = Int64(1 << 56) - 1

  /// Sets a number of the stored report to the highest value that a count can have.
  ///
  /// The key of a report contains the number of its run. When that number changes, the report is
  /// stored under another key.
  private static func raise(_ member: String, in store: RawStore) throws {
    try store.edit(report, .imports, member, to: .integer(highest))
    guard member == "run" else { return }
    let content = Array(try store.get(report, .imports).dropFirst(4))
    let key = ImportKey.report(run: UInt64(highest)).bytes(name: "Film")
    try store.remove(report, .imports)
    try store.put(key, Checksum.sealed(key: key, content: content), .imports)
  }

  private func run(_ arguments: [String]) async -> StoreFolder.Outcome {
    let memory = MemoryConsole()
    let status = await KVDump.execute(arguments, on: memory.console)
    return .init(status: status, data: memory.data.text, messages: memory.messages.text)
  }

  @Test(arguments: ["run", "pages", "bytes", "resumptions"])
  func `the verifier finds counts of imports from 2^56 on, and readers refuse them`(member: String)
    async throws
  {
    let store = try VerifiedStore()
    try store.change { try $0.edit(Self.report, .imports, member, to: .integer(Self.highest + 1)) }
    let findings = try Verifier.verify(path: store.path).findings
    #expect(findings.map(\.rule) == [.importReport], "\(findings)")
    #expect(await run(["imports", store.path]).status == .damagedData)
    try store.change { try Self.raise(member, in: $0) }
    #expect(await run(["imports", store.path]).status == .success)
    #expect(try Verifier.verify(path: store.path).isSound)
  }

  @Test func `a count of imports at the limit ends the next import without a change`() async throws
  {
    let store = try VerifiedStore()
    try store.change { try Self.raise("run", in: $0) }
    let folder = try StoreFolder()
    let file = try folder.file("f.json", #"[{"episodeId":1,"title":"x"}]"#)
    let command = ["import", store.path, file, "--entity", "Film", "--unique", "episodeId"]
    let outcome = await run(command)
    #expect(outcome.status == .negative || outcome.status == .damagedData, "\(outcome)")
    #expect(outcome.messages.contains("one of its counts is at the limit of 2^56"), "\(outcome)")
    #expect(await run(["imports", store.path]).status == .success)
    let other = await run(command + ["--name", "other"])
    #expect(!other.messages.contains("limit of 2^56"), "\(other)")
    #expect(try Verifier.verify(path: store.path).isSound)
  }

  /// Numbers are read into 64 bits with a sign, 32 bits, or a byte.
  @Test func `the verifier finds other numbers of imports that exceed the types of programs`()
    throws
  {
    let beyond = Document.unsigned(1 << 63)
    let link: Document = .object([
      "link": .integer(0), "id": .integer(1), "page": .integer(0), "record": .integer(0),
      "key": .array([.integer(256)]),
    ])
    let basis: [String: Document] = [
      "mark": .integer(1), "schema": .integer(1), "version": beyond, "epoch": .integer(1),
    ]
    func state(_ change: (inout [String: Document]) -> Void) -> Document {
      var members: [String: Document] = [
        "report": RawStore.importReport, "pages": .integer(0), "isAtEnd": .bool(false),
        "digest": .integer(0),
      ]
      change(&members)
      return .object(members)
    }
    let faults: [(ImportKey, Document, FormatRule)] = [
      (.basis, .object(basis), .importBasis),
      (.state, state { $0["digest"] = .integer(1 << 32) }, .importState),
      (.state, state { $0["pages"] = beyond }, .importState),
      (.state, state { $0["unkeyedRejects"] = .integer(1 << 56) }, .importState),
      (.state, state { $0["pendingLinks"] = .array([link]) }, .importState),
    ]
    for (kind, document, rule) in faults {
      let store = try VerifiedStore()
      try store.change {
        let key = kind.bytes(name: "Film")
        try $0.put(key, Checksum.sealed(key: key, content: document.encoded()), .imports)
      }
      let findings = try Verifier.verify(path: store.path).findings
      #expect(findings.map(\.rule) == [rule], "\(document): \(findings)")
    }
  }
}
