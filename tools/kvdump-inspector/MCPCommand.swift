import ArgumentParser
import EntityStore
import KVDumpCommands
import LodestoreInspector
import LodestoreSystem

/// `kvdump mcp`: the tools of a store for a client of the Model Context Protocol.
struct MCPCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "mcp",
    abstract: "Let a client of the Model Context Protocol read the store.",
    discussion: """
      An AI application starts this command by its configuration:
        {"mcpServers": {
          "pods": {"command": "kvdump", "args": ["mcp", "/data/pods.lodestore"]}}}

      The command answers the messages of standard input on standard output, and ends with the \
      input. The tools are entities, describe, sample, query and explain. The store is opened \
      read-only, also while a program uses it, and each answer is one short read.

      An answer has at most as many records as --answer-size holds. The rest follows in further \
      answers, each of which begins after the one before it.
      """)

  @Argument(
    help: .value("The store's file, such as catalog.lodestore.", "store"), completion: .file())
  var path: String

  @Option(
    help: .value(
      "The maximum size of an answer's records as JSON, such as 256K; 64K by default.", "size"))
  var answerSize: ByteSize?

  @OptionGroup(title: "Output") var output: OutputOptions

  func failure(for error: any Error) -> CommandFailure { .translated(error, store: path) }

  func run(on console: Console) async throws -> ExitStatus {
    let store = try DynamicStore(path: path, options: ReadStore.options)
    defer { store.close() }
    let size = answerSize?.bytes ?? ModelContextServer.usualAnswerSize
    let server = ModelContextServer(
      store, path: path, version: toolVersion, answerSize: size)
    try await server.run(input: STDIN_FILENO, output: STDOUT_FILENO)
    return .success
  }
}
