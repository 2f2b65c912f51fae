import ArgumentParser

/// `kvdump index`: the records of an entity in the order of an index.
struct IndexCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "index", abstract: "The records of an entity, in the order of an index.",
    discussion: """
      Examples:
        kvdump index catalog.lodestore Fireball date --reverse --limit 3
        kvdump index catalog.lodestore Pod name,version --from AFNetworking --to AFNetworking,3
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.")
  var entity: String

  @Argument(help: "The index: its attributes with commas between them, or its number.")
  var index: NameList

  @Option(
    help: ArgumentHelp(
      "Start here: values of the first attributes, with commas between them; a JSON array where a "
        + "value has a comma.", valueName: "values"))
  var from: String?

  @Option(
    help: ArgumentHelp(
      "End here. What starts with these values is still shown.", valueName: "values"))
  var to: String?

  @Flag(help: "From the end to the start.")
  var reverse = false

  @OptionGroup(title: "Selection") var fields: FieldOptions
  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    throw CommandFailure.notWritten(command: "index")
  }
}
