import ArgumentParser

/// `kvdump info`: what is in the store, how big, how old, who reads it.
struct InfoCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "What is in the store, how big it is and who reads it.",
    discussion: "Example: kvdump info catalog.lodestore")

  @OptionGroup var store: StoreArgument
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    throw CommandFailure.notWritten(command: "info")
  }
}
