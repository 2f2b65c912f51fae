import ArgumentParser
import EntityStore
import KVDumpCommands
import LodestoreDatasets

/// `kvdump refresh`: fetches the newest generation of a published dataset.
struct RefreshCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh", abstract: "Fetch the newest generation of a dataset.",
    discussion: """
      The folder is the one in which a program keeps the dataset, or a new one. Its last \
      component is the dataset's name. Programs that have the dataset open continue, and read \
      the new generation from their next use. An interrupted refresh continues where it ended.

      Examples:
        kvdump refresh cache/pods --from https://data.example/pods --keys 1:11qYA…
        kvdump refresh cache/pods --from /media/stick/pods --keys 1:11qYA…
        kvdump refresh cache/pods --file pods-43.lodestore --keys 1:11qYA…
      """)

  @Argument(help: "The dataset's folder.", completion: .directory) var folder: String

  @Option(
    help: .value(
      "The address or the folder of the publisher's files; repeat it for mirrors, in order.",
      "url"))
  var from: [String] = []

  @Option(
    help: .value(
      "Install this sealed file; manifest.json must be in its folder.",
      "file"), completion: .file())
  var file: String?

  @Option(help: .value("The publisher's keys, as printed by 'kvdump signing-keys show'.", "keys"))
  var keys: String

  @Flag(help: "Refresh even if the wait after a failure is not over.") var now = false

  @Flag(
    help: ArgumentHelp(
      "Forget the highest generation that was here, and accept the publisher's even if its number "
        + "is lower."))
  var forgetHighest = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(
      if: from.isEmpty != (file != nil),
      "name either addresses by --from, or a file by --file.")
  }

  func failure(for error: any Error) -> CommandFailure { .dataset(error, at: folder) }

  func run(on console: Console) async throws -> ExitStatus {
    let (parent, name) = DatasetPath.parts(of: folder)
    let within = CachedDataset.names(in: folder)
    if let one = within.first, !CachedDataset.names(in: parent).contains(name) {
      throw CommandFailure.holdsDatasets(folder, one)
    }
    var mirrors: [URL] = []
    for place in from {
      if place.contains("://") {
        guard let url = URL(string: place) else {
          throw CommandFailure.badOption(
            "from", "'\(place)' is not an address; use http, https or a path")
        }
        mirrors.append(url)
      } else {
        mirrors.append(URL(fileURLWithPath: place))
      }
    }
    let dataset = try CachedDataset(
      name, in: parent, entities: [],
      origin: .published(at: mirrors, trusting: try TrustedKeys(keys)))
    if forgetHighest { try await dataset.forgetHighest() }
    if let file {
      let generation = try await dataset.install(fileAt: file)
      try console.writeObject([
        ("outcome", .text(RefreshReport.Outcome.replaced.rawValue)),
        ("generation", .unsigned(generation.number)), ("from", .text(file)),
      ])
      console.note("\(generation.age)")
      return .success
    }
    let report = try await dataset.refresh(now: now)
    try console.writeObject([
      ("outcome", .text(report.outcome.rawValue)), ("generation", .unsigned(report.generation)),
      ("fetched", .byteCount(report.bytesFetched)), ("resumed", .byteCount(report.bytesResumed)),
      ("patch", .bool(report.usedPatch)), ("from", report.place.map(Cell.text) ?? .null),
    ])
    for detour in report.detours { console.note(detour) }
    if let age = try? dataset.current().age { console.note("\(age)") }
    return .success
  }
}

extension CommandFailure {
  fileprivate static func holdsDatasets(_ folder: String, _ name: String) -> Self {
    CommandFailure(
      code: "wrong-folder",
      message:
        "\(folder): holds the folders of datasets, of which '\(name)' is one; name the folder of "
        + "the dataset, such as '\(folder)/\(name)'", status: .usage)
  }
}

/// The path of a dataset's folder.
enum DatasetPath {
  /// The parent folder, and the last component, which is the dataset's name.
  static func parts(of path: String) -> (parent: String, name: String) {
    var path = Substring(path)
    while path.count > 1, path.hasSuffix("/") { path = path.dropLast() }
    guard let slash = path.lastIndex(of: "/") else { return (".", String(path)) }
    let parent = slash == path.startIndex ? "/" : String(path[..<slash])
    return (parent, String(path[path.index(after: slash)...]))
  }
}
