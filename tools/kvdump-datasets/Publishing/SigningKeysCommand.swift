import ArgumentParser
import EntityStore
import KVDumpCommands
import LodestoreDatasets
import LodestoreJSON

/// `kvdump signing-keys`: creates keys, shows a folder's keys, and replaces them.
struct SigningKeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "signing-keys", abstract: "Create, show and rotate the keys that sign a dataset.",
    discussion: """
      A dataset has a chain of key sets in its folder 'keys'. Each set is signed by a key of the \
      previous set, so programs that carry one set can follow to the newest. Put a second key \
      into every set and keep it offline: if the other key is lost or stolen, it can sign the \
      next set.
      """,
    subcommands: [NewKeyCommand.self, ShowKeysCommand.self, RotateKeysCommand.self])
}

struct NewKeyCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Create an Ed25519 key and print its public half.",
    discussion: """
      The file is PEM, PKCS #8, which OpenSSL also reads. Only its owner may read it.

      Example: kvdump signing-keys new signing-key.pem
      """)

  @Argument(help: "The path of the new key; no file may exist there.", completion: .file())
  var file: String

  @OptionGroup(title: "Output") var output: OutputOptions

  func failure(for error: any Error) -> CommandFailure { .dataset(error, at: file) }

  func run(on console: Console) async throws -> ExitStatus {
    let key = try SigningKey()
    try KeyFile.write(key, to: file)
    try console.writeObject([
      ("file", .text(file)), (Column("publicKey", title: "public key"), .text("\(key)")),
      ("id", .text(key.publicKey.id)),
    ])
    return .success
  }
}

struct ShowKeysCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the key sets of a dataset, and the text that programs carry.",
    discussion: """
      For a dataset's folder, shows each key set, and TrustedKeys("…") for programs. For a key \
      file, shows its public half.

      Examples:
        kvdump signing-keys show site/catalog
        kvdump signing-keys show signing-key.pem
      """)

  @Argument(help: "The dataset's folder, or the file of a key.", completion: .file())
  var path: String

  @OptionGroup(title: "Output") var output: OutputOptions

  func failure(for error: any Error) -> CommandFailure { .dataset(error, at: path) }

  func run(on console: Console) async throws -> ExitStatus {
    let chain = try KeyChain(in: path, name: nil)
    guard let newest = chain.trusted else {
      let key = try KeyFile.read(path)
      try console.writeObject([
        (Column("publicKey", title: "public key"), .text("\(key)")),
        ("id", .text(key.publicKey.id)),
      ])
      return .success
    }
    let rows = chain.links.map { link -> [Cell] in
      [
        .integer(Int64(link.set.number)),
        ISO8601Text.text(link.set.createdAt).map(Cell.date) ?? .null,
        .text(link.isFollowing ? "set \(link.set.number - 1)" : "itself"),
        .text(link.set.keys.map(\.description).joined(separator: " ")),
      ]
    }
    try console.write(
      rows,
      of: [
        "set", Column("createdAt", title: "created"), Column("signedBy", title: "signed by"),
        "keys",
      ])
    console.note("programs carry: \(newest)")
    return .success
  }
}

struct RotateKeysCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Replace the key set of a dataset and sign its manifest again.",
    discussion: """
      --key is any key of the newest set: the one to be replaced, or the offline one. With \
      --lost in its place, the new set is signed by its own key, and programs need a new version \
      that carries it.

      Examples:
        kvdump signing-keys rotate site --key old.pem --new new.pem --also PUBLIC-KEY
        kvdump signing-keys rotate site --lost --new new.pem
      """)

  @Argument(help: "The dataset's folder.", completion: .directory) var folder: String

  @Option(help: .value("A key of the newest set.", "file"), completion: .file()) var key: String?

  @Flag(help: "Sign without a key of the newest set, because all are lost.") var lost = false

  @Option(help: .value("The key that signs from now on.", "file"), completion: .file())
  var new: String

  @Option(help: .value("The public half of another key of the new set.", "public-key"))
  var also: [String] = []

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(if: (key == nil) != lost, "name either --key or --lost")
  }

  func failure(for error: any Error) -> CommandFailure { .dataset(error, at: folder) }

  func run(on console: Console) async throws -> ExitStatus {
    let others = try also.map { text in
      guard let key = PublicKey(text) else {
        throw CommandFailure.badOption(
          "also", "'\(text)' is not a public key; 'signing-keys show' prints one")
      }
      return key
    }
    let keys = try KeyRotation(
      folder, signer: try key.map { try KeyFile.read($0) }, newKey: try KeyFile.read(new),
      otherKeys: others
    ).run()
    try console.writeObject([
      ("set", .integer(Int64(keys.number))),
      (Column("trustedKeys", title: "programs carry"), .text(keys.description)),
    ])
    if keys.keys.count == 1 {
      console.note(
        "the set has one key; a second one that is kept offline (--also) replaces a lost one")
    }
    return .success
  }
}
