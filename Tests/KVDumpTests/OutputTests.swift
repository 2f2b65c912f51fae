import LodestoreSystem
import Testing

@testable import KVDumpCommands

@Suite("Pager")
struct PagerSinkTests {
  private func shown(lines: Int, by command: String, folder: String = "/tmp") throws -> String {
    let screen = MemorySink()
    let output = TextOutput(
      PagerSink(
        screen: screen, size: Terminal.Size(columns: 10, rows: 5), command: command,
        folder: folder))
    for number in 0..<lines {
      try output.write("\(number)\n")
      try output.flush()
    }
    try output.finish()
    return screen.text
  }

  private func numbers(_ count: Int) -> String { (0..<count).map { "\($0)\n" }.joined() }

  @Test func `the pager is not used for output that fits the screen`() throws {
    #expect(try shown(lines: 4, by: "exit 0") == numbers(4))
  }

  @Test func `the pager gets all of a longer output`() throws {
    // The pager command consumes and counts all lines, so nothing is left for the screen.
    #expect(try shown(lines: 5, by: "test $(wc -l) = 5 || exit 127").isEmpty)
    #expect(try shown(lines: 40_000, by: "test $(wc -l) = 40000 || exit 127").isEmpty)
  }

  @Test func `output continues without the pager if it cannot be started`() throws {
    #expect(try shown(lines: 50, by: "no-such-pager-anywhere 2>/dev/null") == numbers(50))
    #expect(try shown(lines: 50, by: "exit 0", folder: "/no/such/folder") == numbers(50))
  }

  @Test(arguments: [
    ([:], "less -FRX"), (["PAGER": "more"], "more"), (["PAGER": "more", "KVDUMP_PAGER": "w"], "w"),
    (["PAGER": "more", "KVDUMP_PAGER": ""], nil), (["PAGER": "cat"], nil),
  ])
  func `the environment chooses the pager`(environment: [String: String], expected: String?) {
    #expect(PagerSink.command(in: environment) == expected)
  }
}

@Suite("Console")
struct ConsoleTests {
  @Test func `the console writes one value as an object in the format chosen`() async throws {
    let members: [(column: Column, cell: Cell)] = [
      (Column("inserted"), .count(1200)), (Column("reason"), .null), (Column("gone"), .absent),
    ]
    func text(_ format: String, width: Int? = nil) throws -> String {
      let memory = MemoryConsole(width: width)
      memory.console.apply(try OutputOptions.parse(["--format", format, "--color", "never"]))
      try memory.console.writeObject(members)
      try memory.console.finish()
      return memory.data.text
    }
    #expect(try text("json") == "{\"inserted\":1200,\"reason\":null}\n")
    #expect(try text("jsonl") == "{\"inserted\":1200,\"reason\":null}\n")
    #expect(try text("auto", width: 80) == "inserted  1,200\nreason    null\n")
    #expect(try text("csv") == "inserted,reason,gone\r\n1200,,\r\n")
  }

  @Test func `the console holds notes until the data is out and drops them when quiet`() throws {
    let memory = MemoryConsole()
    memory.console.note("20 of 30 records")
    memory.console.note(nil)
    #expect(memory.messages.text.isEmpty)
    try memory.console.finish()
    #expect(memory.messages.text == "20 of 30 records\n")
    let silent = MemoryConsole()
    silent.console.apply(try OutputOptions.parse(["--quiet"]))
    silent.console.note("20 of 30 records")
    try silent.console.finish()
    #expect(silent.messages.text.isEmpty)
  }

  @Test func `the console asks only if a person can answer, and accepts only yes as yes`() {
    #expect(!MemoryConsole().console.canAsk)
    #expect(!MemoryConsole().console.ask("Delete?"))
    for (answer, expected) in [("y", true), (" y", false), ("YES", true), ("", false)] {
      let memory = MemoryConsole(answer: { answer })
      #expect(memory.console.ask("Delete \u{1b}[2J?") == expected)
      #expect(memory.messages.text == "Delete \\u{1b}[2J? [y/N] ")
    }
  }

  @Test(arguments: [
    (12_000, 50_000, "12,000 of 50,000 records, 24 %"), (7, 0, "7 records"),
    (60, 50, "60 of 50 records, 100 %"),
  ])
  func `the console reports how far a run is`(done: Int, total: Int, text: String) {
    #expect(Progress.text(done, total) == text)
    #expect(Progress.text(done, nil) == NumberText.grouped(done) + " records")
  }

  @Test func `the console ends quietly with status 141 when its reader closes the pipe`()
    async throws
  {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[0])
    defer { close(ends[1]) }
    let messages = MemorySink()
    let console = Console(
      output: DescriptorSink(descriptor: ends[1], name: "standard output"), errors: messages)
    #expect(await KVDump.execute(["--help"], on: console) == .brokenPipe)
    #expect(messages.text.isEmpty)
  }
}
