import ArgumentParser

/// `kvdump compact`: a consistent copy without free pages, while the store is in use.
struct CompactCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "A consistent, compacted copy, also of a store in use.",
    discussion: "Example: kvdump compact catalog.lodestore copy.lodestore")

  @OptionGroup var store: StoreArgument

  @Argument(help: "The copy; nothing may be there yet.", completion: .file())
  var out: String

  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    throw CommandFailure.notWritten(command: "compact")
  }
}
