import ArgumentParser
import CLineEditor
import EntityStore
import LodestoreSystem

/// `kvdump shell`: a prompt for commands on one store.
struct ShellCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell", abstract: "Open a prompt for commands on one store.",
    discussion: """
      Examples:
        kvdump catalog.lodestore
        kvdump shell catalog.lodestore --no-history
        kvdump shell catalog.lodestore < commands.txt

      'kvdump STORE' is short for 'kvdump shell STORE'. The commands are those of kvdump without \
      the store. A condition needs no quotes if it follows the entity at once, and ends before \
      the first option:
        query Pod license == "MIT" AND stars > 20 --sort -stars
      A line with an open quote, and a condition with an open bracket or an operator at its end, \
      continue on the next line.

      The tab key completes commands, options, entities, attributes, operators and frequent \
      values. Control-C ends the running command or drops the line. Control-D, 'quit' and 'exit' \
      leave. Each command is a process, which opens the store and closes it. So the prompt holds \
      nothing of the store, and a failed command does not end it. Long output is shown by \
      $KVDUMP_PAGER, $PAGER or less. The options of 'Output' apply to all commands.

      The typed lines are in $XDG_STATE_HOME/kvdump/history, or in ~/.local/state/kvdump. Lines \
      are edited by the library libedit, if the machine has it, and else by the terminal.

      Without a terminal, commands are read from standard input, one on a line. The first error \
      ends the reading and is the status. The commands cannot read standard input themselves.
      """)

  @OptionGroup var store: StoreArgument

  @Flag(help: "Do not read and write the file of typed lines.") var noHistory = false

  @OptionGroup(title: "Output") var output: OutputOptions

  /// The commands of the prompt that kvdump does not have.
  static let ownCommands = ["describe", "exit", "help", "quit"]

  /// The commands of kvdump whose first argument is a store, by name.
  static var commands: [String: any ParsableCommand.Type] {
    let all = KVDump.configuration.groupedSubcommands.flatMap(\.subcommands).filter {
      $0 is any StoreCommand.Type && $0 != ShellCommand.self || $0 == ServeProgram.self
    }
    var commands = Dictionary(
      uniqueKeysWithValues: all.map { ($0.configuration.commandName ?? "", $0) })
    commands["describe"] = SchemaCommand.self
    return commands
  }

  func run(on console: Console) async throws -> ExitStatus {
    // The prompt follows the text at once, and the pager would hold it back.
    console.showAtOnce()
    let summary = try ReadStore.read(store.path, on: console) { snapshot in
      let count = try snapshot.entities.reduce(0) { $0 + (try snapshot.count(of: $1)) }
      return NumberText.counted(snapshot.entities.count, "entity", "entities") + ", "
        + NumberText.counted(count, "record")
    }
    guard isatty(STDIN_FILENO) == 1, console.terminal.isTerminal else {
      return try runFile(on: console)
    }
    try console.line(
      "\(DisplayText.escaped(store.place.argument)): \(summary). "
        + "'help' lists the commands, Control-D leaves.")
    try console.flush()
    // Control-C is for the commands and for the line.
    let previous = signal(SIGINT, SIG_IGN)
    defer { signal(SIGINT, previous) }
    try runPrompt(on: console)
    return .success
  }

  // MARK: Lines

  /// Runs the commands of standard input, and returns the status of the last one.
  private func runFile(on console: Console) throws -> ExitStatus {
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(nothing) }
    var status = ExitStatus.success
    var text = ""
    while let line = readLine() {
      text += (text.isEmpty ? "" : "\n") + line
      let command = ShellLine(text)
      guard command.isComplete else { continue }
      text = ""
      if Self.isEnd(command) { return status }
      status = try run(command, input: nothing, on: console)
      if status != .success, status != .negative { return status }
    }
    return text.isEmpty ? status : try run(ShellLine(text), input: nothing, on: console)
  }

  private func runPrompt(on console: Console) throws {
    if !LineEditor.open(ShellCompletion(store: store.path)) {
      try console.line("This terminal has no libedit: lines have no completion and no recall.")
      try console.flush()
    }
    let history = noHistory ? nil : ShellHistory(console.environment)
    for line in history?.load() ?? [] { LineEditor.remember(line) }
    let name = store.path.split(separator: "/").last ?? "store"
    let prompt = DisplayText(String(name.replacing(".lodestore", with: "")), limit: 30).text + "> "
    let further = String(repeating: ".", count: max(DisplayText(prompt).width - 2, 1)) + "> "
    var text = ""
    while true {
      switch LineEditor.read(text.isEmpty ? prompt : further, after: text) {
      case .cancelled:
        try console.line("")
        text = ""
      case .end:
        try console.line("")
        return
      case .line(let line):
        if !text.isEmpty { text += "\n" }
        text += line
        let command = ShellLine(text)
        guard command.isComplete else { continue }
        if !command.name.isEmpty {
          let line = text.replacing("\n", with: " ")
          LineEditor.remember(line)
          history?.append(line)
        }
        text = ""
        if Self.isEnd(command) { return }
        _ = try run(command, input: nil, on: console)
      }
      try console.flush()
    }
  }

  private static func isEnd(_ line: ShellLine) -> Bool { ["exit", "quit"].contains(line.name) }

  // MARK: Commands

  /// Runs a command in a process of its own, and reports a line that is no command.
  ///
  /// A process can be ended at any time, and a fault in it does not end the prompt.
  private func run(_ line: ShellLine, input: Int32?, on console: Console) throws -> ExitStatus {
    guard !line.name.isEmpty else { return .success }
    let words: [String]
    if line.name == "help" {
      guard let name = line.arguments.first else {
        try writeHelp(on: console)
        return .success
      }
      words = ["help", name == "describe" ? "schema" : name]
    } else if let command = Self.commands[line.name] {
      // The name of a plot precedes the store, as on a command line.
      let before = command == PlotCommand.self ? line.arguments.prefix(1) : []
      words =
        [command.configuration.commandName ?? line.name] + before
        + [store.path.hasPrefix("-") ? "./" + store.path : store.path] + outputWords(for: command)
        + line.arguments.dropFirst(before.count)
    } else {
      console.report(.unknownCommand(line.name, known: Array(Self.commands.keys)))
      return .usage
    }
    let status = ChildProcess.run(ChildProcess.thisProgram, ["kvdump"] + words, input: input)
    line_editor_restore_terminal()
    guard let status else {
      console.report(.system(errno, thing: ChildProcess.thisProgram))
      return .inputOutput
    }
    return ExitStatus(rawValue: status) ?? .fault
  }

  /// The options of the prompt for the output of a command, before those of its line.
  private func outputWords(for command: any ParsableCommand.Type) -> [String] {
    guard command is any ToolCommand.Type else { return [] }
    var words: [String] = []
    if output.format != .auto { words += ["--format", output.format.rawValue] }
    if output.color != .auto { words += ["--color", output.color.rawValue] }
    if let value = output.nullValue.last { words += ["--null-value", value] }
    if output.noPager { words.append("--no-pager") }
    if output.quiet { words.append("--quiet") }
    return words
  }

  private func writeHelp(on console: Console) throws {
    let width = Self.commands.keys.map(\.count).max() ?? 0
    for (name, command) in Self.commands.sorted(by: { $0.key < $1.key }) {
      let space = String(repeating: " ", count: width - name.count + 2)
      try console.line(name + space + command.configuration.abstract)
    }
    try console.line("'help COMMAND' shows the options. 'quit' or Control-D leaves.")
    try console.flush()
  }
}
