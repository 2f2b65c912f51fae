import ArgumentParser

/// A command that kvdump lists and passes with its arguments to another program.
protocol SiblingCommand: ParsableCommand {
  static var program: SiblingProgram { get }
  var arguments: [String] { get }
}

extension SiblingCommand {
  static var program: SiblingProgram { .datasets }

  /// The command's name.
  var name: String { Self.configuration.commandName ?? "" }

  /// Returns the configuration of a command.
  ///
  /// The method must not have the requirement's name, because then the parser's default would be
  /// used.
  static func configured(_ name: String, _ abstract: String) -> CommandConfiguration {
    CommandConfiguration(
      commandName: name, abstract: abstract,
      discussion: "Run by \(program.name); see 'kvdump \(name) --help' for the options.")
  }
}

struct PublishProgram: SiblingCommand {
  static let configuration: CommandConfiguration = configured(
    "publish", "Publish a store or a sealed file for any web server.")
  @Argument(parsing: .captureForPassthrough, completion: .file()) var arguments: [String] = []
}

struct SigningKeysProgram: SiblingCommand {
  static let configuration: CommandConfiguration = configured(
    "signing-keys", "Create, show and rotate the keys that sign a dataset.")
  @Argument(parsing: .captureForPassthrough, completion: .file()) var arguments: [String] = []
}

struct RefreshProgram: SiblingCommand {
  static let configuration: CommandConfiguration = configured(
    "refresh", "Fetch the newest generation of a dataset.")
  @Argument(parsing: .captureForPassthrough, completion: .file()) var arguments: [String] = []
}

struct DatasetsProgram: SiblingCommand {
  static let configuration: CommandConfiguration = configured(
    "datasets", "List the datasets in a folder with their age and source.")
  @Argument(parsing: .captureForPassthrough, completion: .file()) var arguments: [String] = []
}

struct ReplicateProgram: SiblingCommand {
  static let configuration: CommandConfiguration = configured(
    "replicate", "Send the commits of a store to a replica.")
  @Argument(parsing: .captureForPassthrough, completion: .file()) var arguments: [String] = []
}

struct FollowProgram: SiblingCommand {
  static let configuration: CommandConfiguration = configured(
    "follow", "Keep a copy of a replica's store up to date.")
  @Argument(parsing: .captureForPassthrough, completion: .file()) var arguments: [String] = []
}

struct RestoreProgram: SiblingCommand {
  static let configuration: CommandConfiguration = configured(
    "restore", "Restore a state of a replica into a new store.")
  @Argument(parsing: .captureForPassthrough, completion: .file()) var arguments: [String] = []
}

struct ReplicaProgram: SiblingCommand {
  static let configuration: CommandConfiguration = configured(
    "replica", "Show a replica, take over its writing, export lost writes.")
  @Argument(parsing: .captureForPassthrough, completion: .file()) var arguments: [String] = []
}

struct ServeProgram: SiblingCommand {
  static let configuration: CommandConfiguration = configured(
    "serve", "Serve the pages of a store to a browser on this machine.")
  static var program: SiblingProgram { .inspector }
  @Argument(parsing: .captureForPassthrough, completion: .file()) var arguments: [String] = []
}

struct MCPProgram: SiblingCommand {
  static let configuration: CommandConfiguration = configured(
    "mcp", "Let a client of the Model Context Protocol read the store.")
  static var program: SiblingProgram { .inspector }
  @Argument(parsing: .captureForPassthrough, completion: .file()) var arguments: [String] = []
}
