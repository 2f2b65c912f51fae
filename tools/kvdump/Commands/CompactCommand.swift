import ArgumentParser
import EntityStore
import LMDB

/// `kvdump compact`: a consistent copy without free pages, while the store is in use.
struct CompactCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "A consistent, compacted copy, also of a store in use.",
    discussion: "Example: kvdump compact catalog.lodestore copy.lodestore")

  @OptionGroup var store: StoreArgument

  @Argument(help: "The copy; nothing may be there yet.", completion: .file())
  var out: String

  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    guard !FileFacts.exists(out) else { throw CommandFailure.outputExists(out) }
    // Opened as a store first, so that what is no store is not copied.
    let source = try ReadStore.read(store.path, on: console) { core in
      do {
        try core.store.environment.copy(to: out, compacting: true)
      } catch let error as LMDBError where error.kind == .engine && error.code > 0 {
        throw CommandFailure.system(error.code, thing: out, creating: true)
      }
      return FileFacts(store.path)
    }
    let copy = try counted(on: console)
    try console.writeObject([
      (Column("out"), .text(out)), (Column("size"), .byteCount(FileFacts(out)?.size ?? 0)),
      (Column("before"), .byteCount(source?.size ?? 0)),
      (Column("entities"), .count(copy.entities)), (Column("records"), .count(copy.records)),
    ])
    return .success
  }

  /// Opens the copy, and reads every record through its layout.
  private func counted(on console: Console) throws -> (entities: Int, records: Int) {
    do {
      return try ReadStore.read(out, on: console) { core in
        var records = 0
        for entity in core.schema.entities {
          try core.forEachRecord(of: entity) { (_, _) throws(StoreError) in records += 1 }
        }
        return (core.schema.entities.count, records)
      }
    } catch {
      throw CommandFailure.translated(error, store: out)
    }
  }
}
