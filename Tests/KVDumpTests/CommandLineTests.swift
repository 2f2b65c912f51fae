import Testing

@testable import KVDumpCommands

@Suite("Command line")
struct CommandLineTests {
  private func parsed<Command>(_ type: Command.Type, _ arguments: String...) throws -> Command {
    try #require(try KVDump.parseAsRoot(arguments) as? Command)
  }

  @Test func `kvdump begins its help with two examples and groups the commands`() async {
    let memory = MemoryConsole()
    #expect(await memory.run("--help") == .success)
    let lines = memory.data.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count(where: { $0.hasPrefix("  kvdump ") }) == 2)
    #expect(memory.data.text.contains("LOOK"))
    #expect(memory.messages.text.isEmpty)
  }

  @Test func `kvdump shows the same page for help and --help`() async {
    let byHelp = MemoryConsole()
    let byOption = MemoryConsole()
    #expect(await byHelp.run("help", "records") == .success)
    #expect(await byOption.run("records", "--help") == .success)
    #expect(byHelp.data.text.contains("--fields"))
    #expect(byHelp.data.text == byOption.data.text)
  }

  @Test func `kvdump proposes a command for a mistyped one`() async {
    let memory = MemoryConsole()
    #expect(await memory.run("recrds", "a.store", "Pod") == .usage)
    #expect(
      memory.messages.text
        == "kvdump: \"recrds\": no such command; did you mean \"records\"? see 'kvdump help'\n")
    #expect(memory.data.text.isEmpty)
    let help = MemoryConsole()
    #expect(await help.run("help", "recrds") == .usage)
    #expect(help.messages.text == memory.messages.text && help.data.text.isEmpty)
  }

  @Test func `kvdump reports wrong use as JSON if JSON is chosen`() async {
    let memory = MemoryConsole()
    #expect(await memory.run("records", "a.store", "--format=json") == .usage)
    #expect(memory.messages.text.hasPrefix(#"{"error":{"code":"usage","message":""#))
    #expect(memory.messages.text.hasSuffix(#""status":64}}"# + "\n"))
  }

  @Test func `kvdump reads a negative number as a value`() async {
    let memory = MemoryConsole()
    #expect(await memory.run("records", "s", "E", "--limit", "-1") == .usage)
    #expect(
      memory.messages.text
        == "kvdump: the value '-1' is invalid for '--limit <n>'; see 'kvdump records --help'\n")
  }

  @Test func `kvdump proposes an option for a mistyped one`() async {
    let memory = MemoryConsole()
    #expect(await memory.run("records", "s", "E", "--limt", "3") == .usage)
    #expect(
      memory.messages.text == "kvdump: unknown option '--limt'; did you mean '--limit'? "
        + "see 'kvdump records --help'\n")
  }

  @Test(arguments: [
    ["info"], ["records", "s"], ["records", "s", "E", "--limit", "-1"], ["index", "s", "E"],
    ["records", "s", "E", "--offset", "-2"], ["get", "s", "E"], ["get", "s", "E", "=x"],
    ["keys", "s", "t", "--from", "0g"], ["keys", "s", "t", "--prefix", "01", "--to", "02"],
    ["import", "s", "f"], ["import", "s", "f", "--entity", "E", "--infer", "--schema", "x"],
    ["import", "s", "f", "--entity", "E", "--on-conflict", "merge"], ["compact", "s"],
    ["import", "s", "-", "-", "--entity", "E"], ["records", "s", "E", "--fields", "a,,b"],
    ["delete", "s", "E"], ["update", "s", "E", "a == 1"], ["export", "s"],
    ["export", "s", "E", "--format", "line"], ["records", "s", "E", "--format", "xml"],
    ["info", "s", "--no-such-option"],
  ])
  func `wrong use ends kvdump with status 64 and one line`(arguments: [String]) async {
    let memory = MemoryConsole()
    #expect(await KVDump.execute(arguments, on: memory.console) == .usage)
    let lines = memory.messages.text.split(separator: "\n")
    #expect(lines.count == 1)
    #expect(lines.first?.hasPrefix("kvdump: ") == true)
    #expect(lines.first?.hasSuffix("see 'kvdump \(arguments[0]) --help'") == true)
  }

  @Test func `kvdump reads the arguments of every kind of command`() throws {
    let get = try parsed(GetCommand.self, "get", "s", "Pod", "name=a=b", "version=")
    #expect(get.matches.map(\.attribute) == ["name", "version"])
    #expect(get.matches.map(\.value) == ["a=b", ""])
    let index = try parsed(
      IndexCommand.self, "index", "s", "Pod", "name,version", "--from", "a,1", "--reverse",
      "--fields", "b,a.c,b")
    #expect(index.index.names == ["name", "version"])
    #expect(index.from == "a,1")
    #expect(index.reverse)
    #expect(index.fields.names == ["b", "a.c"])
    let keys = try parsed(KeysCommand.self, "keys", "s", "index.1.1", "--prefix", "02 41fF")
    #expect(keys.prefix?.bytes == [0x02, 0x41, 0xFF])
    let load = try parsed(
      ImportCommand.self, "import", "s", "a.json", "-", "--entity", "Pod", "--records", "result",
      "--unique", "name,version", "--index", "name", "--index", "license,name", "--on-conflict",
      "patch", "--infer")
    #expect(load.files == ["a.json", "-"])
    #expect(load.merging.unique?.names == ["name", "version"])
    #expect(load.schema.index.map(\.names) == [["name"], ["license", "name"]])
    #expect(load.merging.conflict == .patch)
  }

  @Test func `kvdump limits rows for people only`() throws {
    let plain = try parsed(RecordsCommand.self, "records", "s", "E").rows
    let all = try parsed(RecordsCommand.self, "records", "s", "E", "--limit", "0").rows
    let screen = Terminal(size: Terminal.Size(columns: 80, rows: 24))
    #expect(plain.effectiveLimit(on: screen) == 20)
    #expect(plain.effectiveLimit(on: .none) == nil)
    #expect(all.effectiveLimit(on: screen) == nil)
  }

  @Test func `kvdump writes a table to people and JSON Lines to programs by default`() {
    let screen = Terminal(size: Terminal.Size(columns: 80, rows: 24))
    #expect(FormatChoice.auto.format(on: screen) == .table)
    #expect(FormatChoice.auto.format(on: .none) == .jsonl)
    #expect(FormatChoice.csv.format(on: screen) == .csv)
  }
}

@Suite("Colour")
struct ColorChoiceTests {
  @Test(arguments: [
    (ColorChoice.auto, true, true, [:], true), (.auto, false, true, [:], false),
    (.auto, true, false, [:], false), (.auto, true, true, ["NO_COLOR": "1"], false),
    (.auto, true, true, ["NO_COLOR": ""], true),
    (.auto, false, true, ["CLICOLOR_FORCE": "1"], true),
    (.auto, false, true, ["CLICOLOR_FORCE": "0"], false),
    (.auto, true, true, ["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], false),
    (.always, false, false, ["NO_COLOR": "1"], true),
    (.never, true, true, ["CLICOLOR_FORCE": "1"], false),
  ])
  func `the use of colour follows the command line, then the environment, then the terminal`(
    choice: ColorChoice, isTerminal: Bool, hasStyle: Bool, environment: [String: String],
    expected: Bool
  ) {
    let size = isTerminal ? Terminal.Size(columns: 80, rows: 24) : nil
    let terminal = Terminal(size: size, hasStyle: hasStyle)
    #expect(choice.isEnabled(on: terminal, environment: environment) == expected)
  }
}
