import ArgumentParser
import Dispatch
import KVDumpCommands

/// Runs the command `serve`, which kvdump passes on, and ends the process.
package func runKVDumpInspector() -> Never {
  holdStandardStreams()
  requireDescriptors()
  Task { await runTool(KVDumpInspector.self) }
  dispatchMain()
}

/// The command that serves pages.
///
/// The help pages say `kvdump`, because kvdump starts this program for it.
struct KVDumpInspector: CommandTool {
  static let configuration = CommandConfiguration(
    commandName: "kvdump", abstract: "Serve the pages of a store.",
    discussion: """
      kvdump starts the program kvdump-inspector for this command.

      Example:
        kvdump serve catalog.lodestore --open
      """,
    groupedSubcommands: [CommandGroup(name: "Look", subcommands: [ServeCommand.self])])
}
