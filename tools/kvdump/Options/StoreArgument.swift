import ArgumentParser

/// The first argument of every command.
struct StoreArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The store's file, such as catalog.lodestore.", valueName: "store"),
    completion: .file())
  var path: String

  func validate() throws {
    if path.isEmpty { throw ValidationError("the path of the store is empty") }
  }
}
