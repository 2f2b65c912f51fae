import ArgumentParser
import EntityStore

/// `kvdump compact`: a consistent copy without free pages, while the store is in use.
struct CompactCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "A consistent, compacted copy, also of a store in use.",
    discussion: """
      Example: kvdump compact catalog.lodestore copy.lodestore

      The copy is checked before it gets its name, as 'kvdump verify' does it. When something is \
      damaged, no copy is left, and the failure says what, with the entity and the record. Then --previous may help: it copies the commit \
      before the newest one, of which the file still has every page.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The copy; nothing may be there yet.", completion: .file())
  var out: String

  @Flag(help: "Copy the commit before the newest one.")
  var previous = false

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
