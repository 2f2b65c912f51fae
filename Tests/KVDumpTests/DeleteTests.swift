import EntityStore
import Testing

@testable import KVDumpCommands

extension StoreFolder {
  /// Runs `command` on the store for a person who gives `answer`.
  func execute(
    _ command: String, _ arguments: [String], answer: @escaping () -> String?
  ) async -> Outcome {
    let memory = MemoryConsole(answer: answer)
    let status = await KVDump.execute([command, store] + arguments, on: memory.console)
    return Outcome(status: status, data: memory.data.text, messages: memory.messages.text)
  }
}

@Suite("Delete")
struct DeleteTests {
  @Test(arguments: [
    (["stars > 20"], "3 4 5", 2), (["stars == NULL"], "1 2 3 5", 1),
    (["stars == 7"], "1 2 3 4 5", 0),
    (["name == %@", "--arg", "AFNetworking"], "3 4 5", 2),
    (["name == 'AFNetworking'", "--require-index"], "3 4 5", 2),
    (["license.type IN {'MIT', 'BSD'}"], "1 4 5", 2),
    (["stars > 0", "--sort", "-stars", "--limit", "1"], "1 3 4 5", 1),
    (["stars > 0", "--sort", "stars,name", "--limit", "2"], "1 2 4", 2),
    (["--all", "--limit", "2"], "3 4 5", 2), (["--all", "--sort=-_id", "--limit", "9"], "", 5),
    (["--all"], "", 5),
  ])
  func `delete removes the results of a query, with their index entries`(
    arguments: [String], rest: String, count: Int
  ) async throws {
    let folder = try await QueriedStore.make()
    let before = try folder.bytes(folder.store)
    let dry = await folder.execute("delete", ["Pod"] + arguments + ["--dry-run"])
    #expect(dry.status == .success)
    #expect(dry.data == #"{"entity":"Pod","found":\#(count),"deleted":0,"records":5}"# + "\n")
    #expect(dry.messages == "a dry run: nothing was deleted\n")
    #expect(try folder.bytes(folder.store) == before)

    let outcome = await folder.execute("delete", ["Pod", "--yes"] + arguments)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(
      outcome.data
        == #"{"entity":"Pod","found":\#(count),"deleted":\#(count),"records":\#(5 - count)}"# + "\n"
    )
    #expect(outcome.messages == "")
    #expect(await folder.ids() == rest)
    #expect(await folder.isSound())
  }

  @Test func `delete reports in every format`() async throws {
    func text(_ arguments: String..., width: Int? = nil) async throws -> String {
      let folder = try await QueriedStore.make()
      let arguments = ["Pod", "stars > 20", "--yes", "--color", "never"] + arguments
      return await folder.execute("delete", arguments, width: width).data
    }
    #expect(
      try await text("--format", "json")
        == #"{"entity":"Pod","found":2,"deleted":2,"records":3}"# + "\n")
    #expect(
      try await text("--format", "csv") == "entity,found,deleted,records\r\nPod,2,2,3\r\n")
    #expect(
      try await text(width: 80) == """
        entity   Pod
        found    2
        deleted  2
        records  3

        """)
  }

  @Test(arguments: ["y", "Y", "yes"])
  func `delete asks with the counts and continues after yes`(answer: String) async throws {
    let folder = try StoreFolder()
    try await QueriedStore.addItems(to: folder)
    let outcome = await folder.execute("delete", ["Item", "rank > 9"]) { answer }
    #expect(outcome.status == .success)
    #expect(outcome.data == #"{"entity":"Item","found":800,"deleted":800,"records":200}"# + "\n")
    #expect(outcome.messages == "Delete 800 of 1,000 records of Item? [y/N] ")
    #expect(await folder.isSound())
  }

  @Test(arguments: ["", "n", "no", "yess", nil])
  func `any other answer ends delete with status 1 and leaves the file unchanged`(answer: String?)
    async throws
  {
    let folder = try await QueriedStore.make()
    let before = try folder.bytes(folder.store)
    let outcome = await folder.execute("delete", ["Pod", "--all"]) { answer }
    #expect(outcome.status == .negative)
    #expect(outcome.data == "")
    #expect(
      outcome.messages == "Delete 5 of 5 records of Pod? [y/N] nothing was deleted\n")
    #expect(try folder.bytes(folder.store) == before)
  }

  @Test func `delete does not ask if no record matches`() async throws {
    let folder = try await QueriedStore.make()
    let outcome = await folder.execute("delete", ["Pod", "stars == 7"]) {
      Issue.record("asked")
      return nil
    }
    #expect(outcome.status == .success)
    #expect(outcome.data == #"{"entity":"Pod","found":0,"deleted":0,"records":5}"# + "\n")
  }

  @Test func `delete changes nothing if other records match than those in its question`()
    async throws
  {
    let folder = try await QueriedStore.make()
    let store = folder.store
    let outcome = await folder.execute("delete", ["Pod", "stars > 20"]) {
      // Another process writes while the person decides, which works because the command has no
      // transaction open.
      let isDone = try? WriteStore.write(store) { transaction in
        let entity = try transaction.snapshot.entity("Pod")
        return try transaction.delete(
          try ConditionOptions.parse(["stars == 31"]).request(), of: entity)
      }
      #expect(isDone == 1)
      return "y"
    }
    #expect(outcome.status == .tryAgain)
    #expect(
      outcome.messages.hasSuffix(
        "1 of Pod found now, 2 when it was asked; nothing was changed, run it again\n"))
    #expect(await folder.ids() == "1 3 4 5")
    #expect(await folder.isSound())
  }

  @Test func `delete requires a confirming option if no person can answer`() async throws {
    let folder = try await QueriedStore.make()
    await folder.expectFailure(
      "delete", ["Pod", "stars > 20"], .usage,
      """
      kvdump: no terminal for a question; --yes continues without asking, --dry-run counts the \
      records that would be deleted

      """)
    #expect(await folder.ids() == "1 2 3 4 5")
  }

  @Test(arguments: [
    ([], "a condition is missing; use --all for all records"),
    (["--all", "stars > 1"], "--all and a condition: choose one of them"),
    (["stars > 1", "--limit", "0"], "--limit: 0 is below 1; leave it out for no limit"),
    (["--all", "--arg", "x"], "--arg: the format string has no %@ for it"),
  ])
  func `delete refuses likely mistakes`(arguments: [String], message: String) async throws {
    let folder = try StoreFolder()
    await folder.expectFailure(
      "delete", ["Pod", "--yes"] + arguments, .usage,
      "kvdump: \(message); see 'kvdump delete --help'\n")
  }

  @Test func `delete refuses conditions that are invalid or match every record`() async throws {
    let folder = try await QueriedStore.make()
    for option in ["--yes", "--dry-run"] {
      await folder.expectFailure(
        "delete", ["Pod", "TRUEPREDICATE", option], .usage,
        "kvdump: \"TRUEPREDICATE\": leaves no record out; say --all instead\n")
      await folder.expectFailure(
        "delete", ["Pod", "", option], .usage,
        """
        kvdump: STORE: cannot parse the condition: line 1, column 1: found the end, expected a \
        condition

        """)
      await folder.expectFailure(
        "delete", ["Pod", "nmae == 'x'", option], .usage,
        """
        kvdump: STORE: cannot use the query: line 1, column 1: 'nmae' is no attribute of Pod; did \
        you mean 'name'?
          nmae == 'x'
          ^

        """)
      await folder.expectFailure(
        "delete", ["Pods", "--all", option], .usage,
        "kvdump: STORE: has no entity \"Pods\"; did you mean \"Pod\"? see 'kvdump schema STORE'\n")
      await folder.expectFailure(
        "delete", ["Pod", "stars > 1", "--sort", "starz", option], .usage,
        """
        kvdump: STORE: Pod has no attribute "starz"; did you mean "stars"? \
        see 'kvdump schema STORE Pod'

        """)
      await folder.expectFailure(
        "delete", ["Pod", "license == 'MIT'", "--require-index", option], .usage,
        """
        kvdump: STORE: cannot run the query on Pod without reading all records, and an index is \
        required: no index serves 'license == "MIT"'; it has Pod.name+version, Pod.stars

        """)
    }
    #expect(await folder.ids() == "1 2 3 4 5")
  }

  @Test func `delete makes no store if the file is missing`() async throws {
    let folder = try StoreFolder()
    await folder.expectFailure(
      "delete", ["Pod", "--all", "--yes"], .noInput,
      "kvdump: STORE: no store there; check the path\n")
    #expect(!FileFacts.exists(folder.store))
  }
}
