import LMDB
import Testing

@testable import KVDumpCommands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Commands on a file of the other LMDB version than the one that kvdump runs with.
@Suite struct OtherEngineTests {
  /// A folder whose store is the kept file of a format, with the same pairs in either.
  private static func folder(_ format: PageFormat) throws -> StoreFolder {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder = try StoreFolder(inMemory: true)
    let part = format == .lmdb10 ? "lmdb-1.0/" : ""
    try FileManager.default.copyItem(
      atPath: tests.appendingPathComponent(
        "EntityStoreTests/Corpus/Files/\(part)format-5.lodestore"
      ).path, toPath: folder.store)
    return folder
  }

  private static let other = PageFormat.all.first { $0 != .ofEngine } ?? .ofEngine

  @Test(arguments: [
    ["schema"], ["records", "Specimen"], ["records", "Song", "--limit", "1"],
    ["get", "Person", "name=Ada"], ["index", "Person", "level"],
    ["query", "Song", "seconds > 100 AND band.name BEGINSWITH 'E'"],
    ["query", "Person", "level >= 0", "--sort", "-age,name"],
    ["count", "Band", "--by", "playerCount"], ["explain", "Song", "seconds > 100"],
    ["history"], ["imports"], ["keys"], ["keys", "records.1"], ["verify"],
    ["export", "Band"],
  ])
  func `a reading command answers from a file of the other LMDB as from one of this LMDB`(
    _ command: [String]
  ) async throws {
    let folders = try (Self.folder(.ofEngine), Self.folder(Self.other))
    let before = try folders.1.bytes(folders.1.store)
    let expected = MemoryConsole()
    let found = MemoryConsole()
    let status = await KVDump.execute(
      [command[0], folders.0.store] + command.dropFirst(), on: expected.console)
    let otherStatus = await KVDump.execute(
      [command[0], folders.1.store] + command.dropFirst(), on: found.console)
    #expect(otherStatus == status, "\(found.messages.text)")
    #expect(
      found.data.text == expected.data.text.replacing(folders.0.path, with: folders.1.path))
    #expect(try folders.1.bytes(folders.1.store) == before)
    #expect(try folders.1.files() == ["a.lodestore"])
  }

  @Test func `the facts of a file of the other LMDB come with a note of both versions`()
    async throws
  {
    let folder = try Self.folder(Self.other)
    let outcome = await folder.run("info")
    #expect(outcome.status == .success)
    #expect(outcome.data.contains("Specimen"))
    #expect(
      outcome.messages.contains(
        "\(Self.other.engine) made it, and this kvdump runs \(PageFormat.engineVersion)"))
  }

  @Test(arguments: [
    ["delete", "Song", "seconds > 0", "--yes"], ["compact", "copy.lodestore"],
  ])
  func `a writing command refuses a file of the other LMDB and names the conversion`(
    _ command: [String]
  ) async throws {
    let folder = try Self.folder(Self.other)
    let before = try folder.bytes(folder.store)
    let memory = MemoryConsole()
    let arguments = command.map { $0.hasSuffix(".lodestore") ? folder.path + "/" + $0 : $0 }
    let status = await KVDump.execute(
      [arguments[0], folder.store] + arguments.dropFirst(), on: memory.console)
    #expect(status == .damagedData, "\(memory.messages.text)")
    #expect(memory.messages.text.contains("'kvdump convert "), "\(memory.messages.text)")
    #expect(try folder.bytes(folder.store) == before)
    #expect(try folder.files() == ["a.lodestore"])
  }
}
