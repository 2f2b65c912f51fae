import ArgumentParser
import EntityStore
import KVDumpCommands
import LodestoreDatasets
import LodestoreJSON

/// `kvdump publish`: publishes a store or a sealed file as the newest generation of a dataset.
struct PublishCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish", abstract: "Publish a store or a sealed file for any web server.",
    discussion: """
      Writes the compressed generation, patches from the last ones, and finally the signed \
      manifest.json. A command that is killed leaves the old manifest or the new one. Upload the \
      folder to any static server or bucket, manifest.json last. A store is sealed first, as by \
      'kvdump seal'. The first publication makes the key the first key set.

      Examples:
        kvdump signing-keys new key.pem
        kvdump publish catalog.lodestore site/catalog --name catalog --key key.pem
        kvdump publish catalog-7.lodestore site/catalog --key key.pem
      """)

  @Argument(
    help: "A store or a sealed file.", completion: .file(), transform: { StorePath($0).file })
  var store: String

  @Argument(help: "The dataset's folder; created if it is missing.", completion: .directory)
  var folder: String

  @Option(help: .value("A signing key of the newest key set.", "file"), completion: .file())
  var key: String

  @Option(
    help: ArgumentHelp(
      "The dataset's name; required when a store is published for the first time."))
  var name: String?

  @Option(
    help: .value("The generation of a published store; by default the one after the newest.", "n"))
  var generation: UInt64?

  @Option(help: .value("The date of a store's data; by default now.", "date")) var asOf: String?

  @Option(
    help: .value(
      "The address of another server with the folder, ending with '/'; repeat it for more.",
      discussion: "Without the option, the mirrors of the last manifest stay.", "address"))
  var mirror: [String] = []

  @Option(help: .value("Make patches from this many of the last generations.", "n")) var patches = 5

  @Option(help: .value("Keep the files of this many generations.", "n")) var keep = 10

  @Option(help: .value("Keep the files of older generations this long.", "days")) var keepDays = 7

  @Option(help: .value("The compression level of zstd, 1 to 19.", "level")) var level = 9

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(if: !(0...64).contains(patches), "--patches: expected 0 to 64")
    try refuse(if: !(1...10_000).contains(keep), "--keep: expected 1 to 10000")
    try refuse(if: !(0...36_500).contains(keepDays), "--keep-days: expected 0 to 36500")
    try refuse(if: !(1...19).contains(level), "--level: expected 1 to 19")
  }

  func failure(for error: any Error) -> CommandFailure { .dataset(error, at: store) }

  func run(on console: Console) async throws -> ExitStatus {
    let dataAsOf = try asOf.map { text in
      guard let date = ISO8601Text.date(text) else {
        throw CommandFailure.badOption(
          "as-of", "'\(text)' is not a date; write it as 2026-01-31 or 2026-01-31T12:00:00Z")
      }
      return date
    }
    let publisher = DatasetPublisher(folder, key: try KeyFile.read(key), options: options)
    let report: PublishReport
    if try isSealed {
      guard name == nil, generation == nil, asOf == nil else {
        throw CommandFailure.badOption(
          "name",
          "a sealed file has its name, generation and date; leave out --name, --generation "
            + "and --as-of")
      }
      report = try publisher.publish(store)
    } else {
      report = try publisher.publishNext(name: name, generation: generation) {
        path, name, generation in
        let source = try DynamicStore(path: store, options: .readOnly)
        defer { source.close() }
        _ = try source.seal(
          to: path, name: name, generation: generation, dataAsOf: dataAsOf ?? Date(),
          sealedAt: Date())
      }
    }
    try console.writeObject(report.manifest.members)
    note(report, on: console)
    return .success
  }

  private var options: DatasetPublisher.Options {
    var options = DatasetPublisher.Options()
    options.mirrors = mirror.isEmpty ? nil : mirror
    options.patchCount = patches
    options.keptGenerations = keep
    options.keptFor = .seconds(keepDays * 86_400)
    options.compressionLevel = level
    return options
  }

  private var isSealed: Bool {
    get throws {
      do throws(StoreError) {
        _ = try Seal(ofFileAt: store)
        return true
      } catch  where error.code == .notSealed {
        return false
      }
    }
  }

  private func note(_ report: PublishReport, on console: Console) {
    for patch in report.skippedPatches {
      console.note("no patch from generation \(patch.from): \(patch.reason)")
    }
    if !report.removedFiles.isEmpty {
      console.note("removed: \(report.removedFiles.joined(separator: ", "))")
    }
    if report.previousGeneration == nil { console.note("programs carry: \(report.trustedKeys)") }
    if report.trustedKeys.keys.count == 1 {
      console.note(
        "the key set has one key; 'kvdump signing-keys rotate --also' adds one that is kept offline"
      )
    }
    if KeyFile.isOpenToOthers(key) { console.note("\(key): others may read it; chmod 600 it") }
  }
}
