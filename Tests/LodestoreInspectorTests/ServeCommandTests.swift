import Testing

// Whole Foundation: the contents of a new file are not in FoundationEssentials.
import Foundation

@testable import KVDumpCommands
@testable import KVDumpInspectorCommands

@Suite("kvdump serve")
struct ServeCommandTests {
  private func run(_ arguments: String...) async -> (status: Int32, data: String, errors: String) {
    let (data, errors) = (MemorySink(), MemorySink())
    let status = await KVDumpInspector.execute(
      ["serve"] + arguments, on: Console(output: data, errors: errors))
    return (status.rawValue, data.text, errors.text)
  }

  @Test func `one address is printed without a server`() async throws {
    let library = try await Library.withBooks(12)
    let path = library.store.path
    for address in ["_where=pages == 3", "_where=pages%20==%203", "pages=3"] {
      let rows = await run(path, "--get", "/Book.csv?\(address)&_column=title")
      #expect(rows.status == 0)
      #expect(rows.data == "title\r\nBook 3\r\n")
    }
    #expect(await run(path, "--get", "/Book.csv?_where=pages = =").status == 64)
    #expect(await run(path, "--get", "/Bok").status == 1)
    #expect(await run(path + "x", "--get", "/").status == 66)
    #expect(await run(path, "--get", "/", "--open").status == 64)
  }

  @Test func `pages that change a store need a store that can be written`() async throws {
    let library = try await Library.withBooks(2)
    let path = library.store.path
    #expect(await run(path, "--get", "/", "--write").status == 64)
    let sealed = path + ".sealed"
    let console = Console(output: MemorySink(), errors: MemorySink())
    #expect(
      await KVDump.execute(
        ["seal", path, sealed, "--name", "books", "--generation", "1"], on: console) == .success)
    let refused = await run(sealed, "--write")
    #expect(refused.status != 0 && refused.errors.contains("seal"), "\(refused)")
    let folder = path + ".copy"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try #"{"file": "a.lodestore"}"#.write(
      toFile: folder + "/follower.json", atomically: true, encoding: .utf8)
    let copy = await run(folder, "--write")
    #expect(copy.status == 64 && copy.errors.contains("follow"), "\(copy)")
  }

  @Test func `the tools refuse a store that is not there, and a size that is none`() async {
    let (data, errors) = (MemorySink(), MemorySink())
    let console = Console(output: data, errors: errors)
    let missing = await KVDumpInspector.execute(["mcp", "/nowhere.lodestore"], on: console)
    #expect(missing.rawValue == 66)
    let wrong = await KVDumpInspector.execute(
      ["mcp", "a.lodestore", "--answer-size", "0"], on: console)
    #expect(wrong.rawValue == 64)
    #expect(data.text.isEmpty)
  }
}
