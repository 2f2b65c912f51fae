import ArgumentParser

/// Runs the commands of datasets that fetch and sign, which kvdump starts by name.
public func runKVDumpDatasets() async {
  await KVDumpDatasets.main()
}

struct KVDumpDatasets: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kvdump-datasets", abstract: "Publishes datasets and keeps copies of them fresh.")
}
