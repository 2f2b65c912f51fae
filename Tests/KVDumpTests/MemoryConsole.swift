import Testing

@testable import KVDumpCommands

/// A console whose two streams are in memory.
struct MemoryConsole {
  let data = MemorySink()
  let messages = MemorySink()
  let console: Console

  /// `width` makes the console a terminal of that many columns.
  ///
  /// `answer` makes it a terminal with a person who gives that answer.
  init(
    width: Int? = nil, environment: [String: String] = [:], answer: (() -> String?)? = nil
  ) {
    let size = width.map { Terminal.Size(columns: $0, rows: 24) }
    console = Console(
      output: data, errors: messages, terminal: Terminal(size: size, hasStyle: true),
      environment: environment.merging(["KVDUMP_PAGER": ""]) { given, _ in given },
      answers: answer)
  }

  /// Runs a command line to its end.
  func run(_ arguments: String...) async -> KVDumpCommands.ExitStatus {
    await KVDump.execute(arguments, on: console)
  }
}

/// The output of a writer for some rows.
func rendered(
  _ rows: [[Cell]], by makeWriter: (TextOutput) -> any RowWriter
) throws -> String {
  let sink = MemorySink()
  let output = TextOutput(sink)
  let writer = makeWriter(output)
  for row in rows { try writer.write(row) }
  try writer.finish()
  try output.finish()
  return sink.text
}
