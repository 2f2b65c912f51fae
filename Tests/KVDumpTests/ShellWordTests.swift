import LMDB
import LodestoreFormat
import Testing

@testable import KVDumpCommands

/// Names and paths of other people in suggested command lines.
@Suite("Suggested commands")
struct ShellWordTests {
  @Test func `suggested names are words of a shell, and no options`() {
    #expect(ShellWord.quoted("Note; touch /tmp/x #") == "'Note; touch /tmp/x #'")
    #expect(ShellWord.quoted("a'b$(c)") == "'a'\\''b$(c)'")
    #expect(ShellWord.quoted("") == "''" && ShellWord.quoted("a-b_c.d/e") == "a-b_c.d/e")
    #expect(ShellWord.path("-rf") == "./-rf" && ShellWord.path("a b") == "'a b'")
    #expect(ShellWord.option("name", "-x") == "--name=-x")
    #expect(ShellWord.option("entity", "E") == "--entity E")
    let failure = CommandFailure.damaged("a; b", reason: "is damaged")
    #expect(failure.message.contains("'kvdump verify 'a; b'' lists"))
  }

  @Test func `the suggested command that resumes an import quotes its names`() async throws {
    let store = try VerifiedStore()
    let key = ImportKey.report(run: 1).bytes(name: "Film")
    try store.change {
      try $0.edit(key, .imports, "entity", to: .string("Note; touch /tmp/x #"))
      try $0.edit(key, .imports, "ending", to: .string("failed"))
    }
    let memory = MemoryConsole()
    let status = await KVDump.execute(["imports", store.path], on: memory.console)
    #expect(status == .success)
    #expect(
      memory.messages.text.contains("--entity 'Note; touch /tmp/x #' --name Film --resume"),
      "\(memory.messages.text)")
  }
}
