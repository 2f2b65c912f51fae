import ArgumentParser

/// The first argument of every command.
struct StoreArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The store's file, such as catalog.lodestore.", valueName: "store"),
    completion: .file())
  var path: String

  func validate() throws { try refuse(if: path.isEmpty, "the path of the store is empty") }
}
