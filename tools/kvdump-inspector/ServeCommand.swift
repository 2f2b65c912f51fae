import ArgumentParser
import EntityStore
import KVDumpCommands
import LodestoreInspector
import LodestoreSystem

/// `kvdump serve`: the pages of a store, for a browser on this machine.
struct ServeCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve the pages of a store to a browser on this machine.",
    discussion: """
      Examples:
        kvdump serve catalog.lodestore --open
        kvdump serve catalog.lodestore --write
        kvdump serve catalog.lodestore --get '/Pod.csv?_where=stars > 30'

      The server accepts connections of this machine only, and answers only requests with the key \
      of the printed address. The store is opened read-only, also while a program uses it.

      With --write, pages offer changes: of a record, of all selected records, and the undo of a \
      write. Each change first shows its effects, also those of delete rules, and asks. The \
      history names the author 'kvdump serve'. A program sends the values as JSON by POST, with \
      the header field 'Authorization: Bearer KEY', and then the token of the answer to \
      /-/change.json.

      Each page has other forms: '.json', '.jsonl' or '.csv' at the end of its path, and with \
      places '.geojson'. A parameter is an attribute with its value, or one of _where, _search, \
      _near, _similar, _sort, _column, _facet, _after and _limit.
      """)

  @Argument(
    help: .value(
      "The store's file, such as catalog.lodestore.",
      "store"), completion: .file(), transform: StorePath.init)
  var place: StorePath

  @Option(help: .value("The port; 0 stands for any free port.", "number")) var port: UInt16 = 0

  @Flag(help: "Open the page in the browser.") var open = false

  @Flag(help: "Offer changes of records. Writes after a question each time.") var write = false

  @Option(
    help: .value(
      "Print the answer to one address and exit; the status is 1 if the address leads to nothing.",
      "address"))
  var get: String?

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard get != nil else { return }
    if port != 0 { throw ValidationError("--get and --port: choose one of them") }
    if open { throw ValidationError("--get and --open: choose one of them") }
    if write { throw ValidationError("--get and --write: choose one of them") }
  }

  private var path: String { place.file }

  /// The options of a store that pages change.
  ///
  /// Each record that is read is checked, because a change would give a damaged record a new
  /// checksum.
  private static var writing: StoreOptions {
    var options = StoreOptions()
    options.access = .existing
    options.verifiesChecksums = true
    options.writeWaitLimit = .seconds(5)
    return options
  }

  func failure(for error: any Error) -> CommandFailure { .translated(error, store: path) }

  func run(on console: Console) async throws -> ExitStatus {
    let store = try DynamicStore(
      path: write ? try place.writableFile : path,
      options: write ? Self.writing : ReadStore.options)
    defer { store.close() }
    if write { try store.checkWritable() }
    if let get { return try print(get, of: store, on: console) }
    #if Inspector
      let inspector = try await Inspector.start(
        store, path: path, port: port, allowsWrites: write)
      let mode = write ? "changes are possible" : "read-only"
      try console.output.write("Inspecting \(path) at \(inspector.address) (\(mode))\n")
      try console.output.write("Press Control-C to stop.\n")
      try console.output.flush()
      if open { Browser.open(inspector.address) }
      try await inspector.wait()
      return .success
    #else
      throw CommandFailure(
        code: "no-server",
        message: "serve: this program was built without the trait Inspector; use --get, or build "
          + "it with the trait", status: .usage)
    #endif
  }

  private func print(
    _ address: String, of store: DynamicStore, on console: Console
  ) throws -> ExitStatus {
    let answer = PrintedAddress(address, of: store, path: path)
    try answer.forEachPart { try console.output.write($0) }
    return switch answer.status {
    case 200: .success
    case 404: .negative
    case 400: .usage
    case 503: .tryAgain
    default: .damagedData
    }
  }
}
