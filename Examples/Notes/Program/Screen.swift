import Foundation
import LodestoreReplicas
import Notes
import Terminal

/// The output of the program.
struct Screen {
  let terminal = Terminal.standardOutput

  func add(_ texts: [String], to store: String, _ bucket: ReplicaStorage) async throws {
    let writer = try await NoteWriter(at: store, sendingTo: bucket)
    for text in texts {
      try await writer.add(text)
      terminal.print("in the bucket: \(text)")
    }
    try await writer.close()
  }

  func follow(_ bucket: ReplicaStorage, in folder: String, until count: Int?) async throws {
    let reader = try await NoteReader(in: folder, following: bucket)
    let list = LiveList(on: terminal)
    for try await update in reader.updates {
      list.show(update.items.map(\.text))
      if let count, update.items.count >= count { break }
    }
    list.finish()
    let status = reader.status
    terminal.print(terminal.styled("slot \(status.slot), write \(status.lastWrite)", .dim))
    await reader.close()
  }

  func status(of bucket: ReplicaStorage) async throws {
    let summary = try await Replica.summary(of: bucket)
    var table = Table(["writes", "slots", "bytes", "epoch", "written by"])
    table.add(
      "\(summary.lastWrite)", "\(summary.slots?.upperBound ?? 0)", "\(summary.logBytes)",
      "\(summary.epoch)", summary.writer ?? "")
    table.show(on: terminal)
  }

  func takeOver(_ bucket: ReplicaStorage, _ path: String) async throws {
    let taken = try await Replica.takeOver(bucket, at: path)
    terminal.print("\(taken.path) may write from now on, after write \(taken.lastWrite)")
  }
}
