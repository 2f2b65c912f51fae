import ArgumentParser
import EntityStore
import LodestorePages
import LodestoreSystem

/// `kvdump seal`: writes the current state to a read-only file for distribution.
struct SealCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "seal",
    abstract: "Write a sealed file: compacted, read-only, with a name and a generation.",
    discussion: """
      Example: kvdump seal a.lodestore pods-7.lodestore --name pods --generation 7

      The sealed file has the records, indexes, links, buckets and the schema of the newest \
      commit. It has no history, no state of imports, and no byte of deleted data. Documents \
      keep the members that nested types read; untyped JSON is copied completely. Expired \
      records must be evicted first. Nobody can write to the file. Any number of processes can \
      read it without a lock file, even on a read-only medium. The digest is that of 'fsverity \
      digest'. An equal commit, name, generation and dates give an equal file.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The path of the sealed file; no file may exist there.", completion: .file())
  var out: String

  @Option(
    help: .value(
      "The dataset's name: ASCII letters, digits, '.', '-', '_'; the first a letter or digit.",
      "name"))
  var name: String

  @Option(help: .value("The generation's number, higher than every earlier one.", "n"))
  var generation: UInt64

  @Option(help: .value("The date of the data; by default now.", "date")) var asOf: String?

  @Option(
    help: .value("The date of the file, for making an equal file again; by default now.", "date"))
  var sealedAt: String?

  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    guard !FileFacts.exists(out) else { throw CommandFailure.outputExists(out) }
    let folder = URL(fileURLWithPath: out).deletingLastPathComponent().path
    guard FileFacts.exists(folder) else { throw CommandFailure.system(ENOENT, thing: folder) }
    let now = Date(
      timeIntervalSinceReferenceDate: Date().timeIntervalSinceReferenceDate.rounded(.down))
    let dataAsOf = try asOf.map { try HistoryDate.parse($0, "--as-of") } ?? now
    let date = try sealedAt.map { try HistoryDate.parse($0, "--sealed-at") } ?? now
    let made = try ReadStore.withStore(store.path, on: console) { source in
      try source.seal(
        to: out, name: name, generation: generation, dataAsOf: dataAsOf, sealedAt: date)
    }
    try console.writeObject([
      ("out", .text(out)), ("size", .byteCount(Int(clamping: made.byteCount))),
      ("name", .text(made.seal.name)), ("generation", .unsigned(made.seal.generation)),
      ("records", .count(made.seal.recordCounts.values.reduce(0, +))),
      ("contentDigest", .text(made.seal.contentDigest)),
      ("fsverity", .text(Finding.hexadecimal(made.digest))),
    ])
    return .success
  }
}
