import ArgumentParser
import KVDumpCommands

/// Runs the commands of datasets that fetch and sign, which kvdump starts by name.
public func runKVDumpDatasets() async {
  await runTool(KVDumpDatasets.self)
}

/// The commands of datasets.
///
/// The pages of help say `kvdump`, because kvdump starts this program for them.
struct KVDumpDatasets: CommandTool {
  static let configuration = CommandConfiguration(
    commandName: "kvdump", abstract: "Publishes datasets and keeps copies of them fresh.",
    discussion: """
      The program kvdump-datasets, which kvdump starts for these commands.

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
    ])
}
