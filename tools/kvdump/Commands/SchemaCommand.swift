import ArgumentParser

/// `kvdump schema`: entities, attributes and indexes.
struct SchemaCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "The entities, their attributes and indexes.",
    discussion: "Example: kvdump schema catalog.lodestore Pod")

  @OptionGroup var store: StoreArgument

  @Argument(help: "Only this entity.")
  var entity: String?

  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    throw CommandFailure.notWritten(command: "schema")
  }
}
