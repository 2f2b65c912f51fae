import Foundation
import LodestorePages
import LodestoreVerifier
import Testing

@testable import KVDumpCommands

/// `kvdump seal`, and the output of other commands for a sealed file.
@Suite("The command seal")
struct SealCommandTests {
  private static let dates = [
    "--as-of", "2026-11-01T00:00:00Z", "--sealed-at", "2026-11-02T00:00:00Z",
  ]

  /// A store of some records, and a sealed file of it.
  private func seal(_ count: Int = 300) async throws -> (folder: StoreFolder, sealed: String) {
    let folder = try StoreFolder(inMemory: true)
    let rows = (0..<count).map { #"{"k":\#($0),"t":"text \#($0 % 7)"}"# }
    try await folder.load(
      rows.joined(separator: "\n"), "--entity", "E", "--unique", "k", "--infer", "--index", "t",
      name: "rows.jsonl")
    let sealed = folder.path + "/sealed.lodestore"
    let outcome = await run(
      ["seal", folder.store, sealed, "--name", "pods", "--generation", "7"] + Self.dates)
    try #require(outcome.status == .success, "\(outcome.messages)")
    return (folder, sealed)
  }

  private func run(_ arguments: [String]) async -> StoreFolder.Outcome {
    let memory = MemoryConsole()
    let status = await KVDump.execute(arguments, on: memory.console)
    return StoreFolder.Outcome(
      status: status, data: memory.data.text, messages: memory.messages.text)
  }

  @Test func `seal makes a file that verify finds sound, with the digest of fsverity`() async throws
  {
    let (folder, sealed) = try await seal()
    let verified = await run(["verify", sealed])
    #expect(verified.status == .success)
    let table = await run(["verify", sealed, "--format", "table"])
    #expect(table.data.contains("\nseal "), "\(table.data)")
    #expect(verified.messages.contains("sealed: generation 7 of 'pods', fs-verity digest "))
    #expect(!verified.messages.contains("lock file"))
    let digest = try FileVerity.digest(ofFileAt: sealed).hexadecimal
    #expect(verified.messages.contains(digest))
    let info = await run(["info", sealed, "--format", "json"])
    for text in [#""dataset":"pods""#, #""generation":7"#, #""lowestWriter":4294967295"#] {
      #expect(info.data.contains(text), "\(info.data)")
    }
    #expect(try folder.files().filter { $0.hasPrefix("sealed") } == ["sealed.lodestore"])
    guard let tool = FSVerityTool.path else { return }
    #expect(try FSVerityTool.digest(of: sealed, by: tool) == digest)
  }

  @Test func `seal makes identical files of one commit`() async throws {
    let (folder, sealed) = try await seal()
    let again = folder.path + "/again.lodestore"
    let outcome = await run(
      ["seal", folder.store, again, "--name", "pods", "--generation", "7"] + Self.dates)
    #expect(outcome.status == .success)
    #expect(try folder.bytes(again) == folder.bytes(sealed))
    let taken = await run(["seal", folder.store, again, "--name", "p", "--generation", "8"])
    #expect(taken.status != .success)
    #expect(try folder.bytes(again) == folder.bytes(sealed))
  }

  @Test func `writing commands refuse a sealed file with a message`() async throws {
    let (folder, sealed) = try await seal()
    let before = try folder.bytes(sealed)
    let outcome = await run(["delete", sealed, "E", "k > 3", "--yes"])
    #expect(outcome.status != .success)
    #expect(outcome.messages.contains("it is a sealed file"), "\(outcome.messages)")
    #expect(try folder.bytes(sealed) == before)
    let exported = await run(["export", sealed, "E"])
    let original = await run(["export", folder.store, "E"])
    #expect(exported.data == original.data && exported.status == .success)
  }

  /// The variable `LODESTORE_CASES` sets the number of damaged files.
  @Test func `verify finds every damaged byte of a sealed file`() async throws {
    let (folder, sealed) = try await seal(40)
    let bytes = try folder.bytes(sealed)
    let cases = DamageGenerator.number("LODESTORE_CASES").map { Int(clamping: $0) } ?? 150
    var random = DamageGenerator(salt: 4_404)
    let path = folder.path + "/damaged.lodestore"
    for _ in 0..<cases {
      var damaged = bytes
      let place = Int.random(in: bytes.indices, using: &random)
      let bit = UInt8(1) << UInt8.random(in: 0...7, using: &random)
      damaged[place] ^= bit
      try damaged.write(to: URL(fileURLWithPath: path))
      let isSound = (try? Verifier.verify(path: path).isSound) ?? false
      #expect(!isSound, "bit \(bit) of byte \(place), \(DamageGenerator.replay)")
      // The fs-verity digest shows the damage too.
      #expect(try FileVerity.digest(ofFileAt: path) != FileVerity.digest(ofFileAt: sealed))
    }
  }

  @Test func `verify finds every cut end of a sealed file`() async throws {
    let (folder, sealed) = try await seal(40)
    let bytes = try folder.bytes(sealed)
    let path = folder.path + "/cut.lodestore"
    for size in stride(from: 0, to: bytes.count, by: 1_777) {
      try bytes.prefix(size).write(to: URL(fileURLWithPath: path))
      #expect(((try? Verifier.verify(path: path).isSound) ?? false) == false, "\(size) bytes")
    }
    try (bytes + [0]).write(to: URL(fileURLWithPath: path))
    #expect(try !Verifier.verify(path: path).isSound)
  }
}
