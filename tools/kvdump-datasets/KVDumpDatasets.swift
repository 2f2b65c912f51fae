import ArgumentParser
import Dispatch
import KVDumpCommands

/// Runs a dataset command that kvdump passes on, and ends the process.
package func runKVDumpDatasets() -> Never {
  holdStandardStreams()
  requireDescriptors()
  Task { await runTool(KVDumpDatasets.self) }
  dispatchMain()
}

/// The commands of datasets.
///
/// The help pages say `kvdump`, because kvdump starts this program for them.
struct KVDumpDatasets: CommandTool {
  static let configuration = CommandConfiguration(
    commandName: "kvdump", abstract: "Publish datasets and keep copies of them fresh.",
    discussion: """
      kvdump starts the program kvdump-datasets for these commands.

      Examples:
        kvdump publish catalog.lodestore site/catalog --key signing-key.pem
        kvdump verify site/catalog
        kvdump refresh cache/pods --from https://data.example/pods --keys 1:11qYA…
        kvdump datasets cache
      """,
    groupedSubcommands: [
      CommandGroup(
        name: "Publish",
        subcommands: [PublishCommand.self, SigningKeysCommand.self, VerifyPublishedCommand.self]),
      CommandGroup(name: "Keep", subcommands: [RefreshCommand.self, DatasetsCommand.self]),
      CommandGroup(
        name: "Replicate",
        subcommands: [
          ReplicateCommand.self, FollowCommand.self, RestoreCommand.self, ReplicaCommand.self,
        ]),
    ])
}
