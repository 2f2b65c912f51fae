import ArgumentParser
import EntityStore
import LMDB
import LodestoreFormat
import LodestoreVerifier

/// `kvdump convert`: converts a store of the other LMDB version to the version of this kvdump.
struct ConvertCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Convert a store of the other LMDB version to this one.",
    discussion: """
      Example: kvdump convert catalog.lodestore

      LMDB 0.9 and LMDB 1.0 cannot open each other's files. The command writes a new file with \
      the same content in the same directory. It compares the two pair by pair, checks the new \
      one like 'kvdump verify', and then gives the new file the path in one step. The old file \
      stays there with '.lmdb-0.9' or '.lmdb-1.0' added to its name, until you remove it. If the \
      command is killed, the path leads to the complete old file or to the complete new one.

      A store of this LMDB is not changed. No process may have the store open.
      """)

  @OptionGroup var store: StoreArgument
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    let path = try store.writablePath
    do {
      let before = FileFacts(path)
      guard let outcome = try convert(on: console) else {
        console.note("\(path) is a file of \(PageFormat.ofEngine.engine) already")
        return .success
      }
      try console.writeObject([
        ("store", .text(path)), ("from", .text(outcome.from.engine)),
        ("to", .text(PageFormat.ofEngine.engine)), ("old", .text(outcome.oldPath)),
        ("size", .byteCount(FileFacts(path)?.size ?? 0)), ("before", .byteCount(before?.size ?? 0)),
        ("trees", .count(outcome.treeCount)), ("pairs", .count(outcome.pairCount)),
      ])
    } catch {
      throw CommandFailure.verification(error, of: path) ?? error
    }
    return .success
  }

  /// Converts the file; `nil` if it already has this LMDB's format.
  private func convert(on console: Console) throws -> EngineConversion.Outcome? {
    let progress = console.progress()
    defer { progress.end() }
    let conversion = try EngineConversion(of: store.path) { done, total in
      let share = Double(done) / Double(max(total, 1))
      progress.show("\(Progress.text(share))  of the pairs")
      return true
    }
    guard conversion.format != .ofEngine else { return nil }
    guard conversion.hasTree(TreeName.header.text) else {
      throw CommandFailure.notAStore(store.path, reason: "it has no tree 'header'")
    }
    return try conversion.run { copy in
      if let finding = try Verifier.verify(path: copy).findings.first {
        throw CommandFailure.damagedContent("\(finding)").withoutCopy
      }
    }
  }
}
