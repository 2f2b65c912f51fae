import ArgumentParser
import Dispatch
import KVDumpCommands

/// Runs a command that kvdump passes on, and ends the process.
package func runKVDumpInspector() -> Never {
  holdStandardStreams()
  requireDescriptors()
  Task { await runTool(KVDumpInspector.self) }
  dispatchMain()
}

/// The commands that serve a store to programs of this machine.
///
/// The help pages say `kvdump`, because kvdump starts this program for it.
struct KVDumpInspector: CommandTool {
  static let configuration = CommandConfiguration(
    commandName: "kvdump", abstract: "Serve a store to a browser or an AI application.",
    discussion: """
      kvdump starts the program kvdump-inspector for these commands.

      Examples:
        kvdump serve catalog.lodestore --open
        kvdump mcp catalog.lodestore
      """,
    groupedSubcommands: [
      CommandGroup(name: "Look", subcommands: [ServeCommand.self, MCPCommand.self])
    ])
}
