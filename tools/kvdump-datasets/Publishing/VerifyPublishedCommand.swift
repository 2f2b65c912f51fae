import ArgumentParser
import KVDumpCommands
import LodestoreDatasets

/// `kvdump verify` of a published dataset: checks signatures and every file that the manifest
/// names.
struct VerifyPublishedCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check a manifest and the files of a published dataset.",
    discussion: """
      A folder is checked completely: the chain of keys, the manifest, the length and SHA-256 of \
      each file, every frame, and each patch whose older generation exists. A manifest.json \
      alone is checked with the keys in its folder. Status 1 if a file is wrong.

      Examples:
        kvdump verify site/catalog
        kvdump verify site/catalog --trust 1:11qYAYKx…
      """)

  @Argument(help: "The dataset's folder, or its manifest.json.", completion: .file())
  var path: String

  @Option(
    help: .value(
      "The keys that programs carry, as printed by 'signing-keys show'.",
      discussion: "Without the option, the folder's own first key set is believed.", "keys"))
  var trust: String?

  @OptionGroup(title: "Output") var output: OutputOptions

  func failure(for error: any Error) -> CommandFailure { .dataset(error, at: path) }

  func run(on console: Console) async throws -> ExitStatus {
    let isManifest = path.split(separator: "/").last.map(String.init) == PublishedNames.manifest
    let folder = isManifest ? String(path.dropLast(PublishedNames.manifest.count)) : path
    let keys = try trust.map { try TrustedKeys($0) }
    let check = try PublishedCheck(
      folder.isEmpty ? "." : folder, trusting: keys, checksFiles: !isManifest)
    if isManifest {
      try console.writeObject(check.manifest.members)
    } else {
      let rows = check.files.map { file -> [Cell] in
        [.text(file.path), .byteCount(Int(file.length)), file.problem.map(Cell.text) ?? .null]
      }
      try console.write(rows, of: ["file", "size", "problem"])
    }
    console.note(
      "\(check.manifest.name) generation \(check.manifest.generation), signed under key set "
        + "\(check.trustedKeys.number) (\(check.trustedKeys))")
    if !check.isTrusted {
      console.note("the folder's first key set was believed; --trust names the keys of a program")
    }
    if let set = check.brokenAt {
      console.note(
        "key set \(set) is signed by none of set \(set - 1): programs that carry an earlier set "
          + "do not follow to it"
      )
    }
    for file in check.files { console.note(file.note.map { "\(file.path): \($0)" }) }
    return check.isSound ? .success : .negative
  }
}
