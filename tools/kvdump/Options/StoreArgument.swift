import ArgumentParser

/// The first argument of every command.
struct StoreArgument: ParsableArguments {
  @Argument(
    help: .value(
      "The store's file, such as catalog.lodestore, or the folder of a follower or a dataset.",
      "store"), completion: .file(), transform: StorePath.init)
  var place: StorePath

  /// The path of the store's file.
  var path: String { place.file }

  /// The path for a command that changes the store; throws for the copy of a follower.
  var writablePath: String { get throws { try place.writableFile } }

  func validate() throws { try refuse(if: path.isEmpty, "the path of the store is empty") }
}
