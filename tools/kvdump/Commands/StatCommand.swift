import ArgumentParser

/// `kvdump stat`: pages, depth, fill, overflow and free list, by tree.
struct StatCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "stat", abstract: "Pages, depth, fill, overflow and free pages, by tree.",
    discussion: "Example: kvdump stat catalog.lodestore")

  @OptionGroup var store: StoreArgument
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    throw CommandFailure.notWritten(command: "stat")
  }
}
