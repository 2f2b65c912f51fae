import ArgumentParser

/// `kvdump get`: the records whose attributes have the values given; status 1 when there is none.
struct GetCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "The records with these values; status 1 when there is none.",
    discussion: """
      Example: kvdump get catalog.lodestore Pod name=AFNetworking version=4.0.1

      A unique index over the attributes is used where there is one, then any index that starts \
      with them; otherwise all records are read. 'id=7' names a record by its id.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.")
  var entity: String

  @Argument(
    help: ArgumentHelp("The values to find, all of them.", valueName: "attribute=value"))
  var matches: [AttributeMatch]

  @OptionGroup(title: "Selection") var fields: FieldOptions
  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    throw CommandFailure.notWritten(command: "get")
  }
}
