import ArgumentParser
import EntityStore

/// `kvdump compact`: a consistent copy without free pages, while the store is in use.
struct CompactCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Copy a store without its free pages, even while it is in use.",
    discussion: """
      Example: kvdump compact catalog.lodestore copy.lodestore

      The copy is checked like 'kvdump verify' before it gets its name. If anything is damaged, \
      no copy is left, and the failure names the entity and the record. Then try --previous: it \
      copies the commit before the newest one, whose pages are still in the file.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The path of the copy; no file may exist there.", completion: .file())
  var out: String

  @Flag(help: "Copy the commit before the newest one.") var previous = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    let copy = try StoreCopy(for: out)
    // The file is first opened as a store, so that other files are not copied.
    let source = try ReadStore.withStore(store.path, isPrevious: previous, on: console) { source in
      try copy.take(source)
      return FileFacts(store.path)
    }
    let check: CopyCheck
    do {
      check = try CopyCheck(copy.path, on: console)
    } catch {
      throw CommandFailure.translated(error, store: store.path).withoutCopy
    }
    try copy.commit()
    try console.writeObject([
      ("out", .text(out)), ("size", .byteCount(FileFacts(out)?.size ?? 0)),
      ("before", .byteCount(source?.size ?? 0)), ("entities", .count(check.entityCount)),
      ("records", .count(check.recordCount)),
    ])
    return .success
  }
}
