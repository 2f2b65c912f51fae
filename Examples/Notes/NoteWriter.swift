import Foundation
import Lodestore
import LodestoreReplicas

/// The notes on the machine that writes them.
package struct NoteWriter: Sendable {
  private let store: Store
  private let writer: ReplicaWriter

  /// Opens the store, or creates it, and the writer of its replica.
  package init(at path: String, sendingTo bucket: ReplicaStorage) async throws {
    store = try Store(at: path, entities: [Note.self])
    var options = ReplicaWriterOptions()
    options.durability = .replicated
    options.name = ProcessInfo.processInfo.hostName
    writer = try await Replica.writer(store, to: bucket, options: options)
  }

  /// Adds a note, and returns when the bucket has it.
  package func add(_ text: String) async throws {
    try await writer.write { tx in
      try tx.insert(Note(text: text, writtenAt: Date()))
    }
  }

  /// Stops the writer and closes the store.
  package func close() async throws {
    try await writer.stop()
    store.close()
  }
}
