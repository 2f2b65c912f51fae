import ArgumentParser

/// `kvdump keys`: keys and bodies as bytes, for when the typed view fails.
struct KeysCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "The trees, or the keys and bodies of one, as bytes.",
    discussion: "Example: kvdump keys catalog.lodestore index.2.1 --prefix '02 41 46'")

  @OptionGroup var store: StoreArgument

  @Argument(help: "The tree; without it, the trees are listed.")
  var tree: String?

  @Option(help: ArgumentHelp("Start at this key, in hexadecimal.", valueName: "bytes"))
  var from: HexBytes?

  @Option(help: ArgumentHelp("End before this key, in hexadecimal.", valueName: "bytes"))
  var to: HexBytes?

  @Option(help: ArgumentHelp("Only keys that start so, in hexadecimal.", valueName: "bytes"))
  var prefix: HexBytes?

  @Flag(help: "From the end to the start.")
  var reverse = false

  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    if prefix != nil, from != nil || to != nil {
      throw ValidationError("--prefix: already says where to start and end; leave --from and --to")
    }
  }

  func run(on console: Console) async throws -> ExitStatus {
    throw CommandFailure.notWritten(command: "keys")
  }
}
