import Lodestore
import LodestoreReplicas

/// The notes on a machine that only reads them.
package struct NoteReader: Sendable {
  private let follower: ReplicaFollower

  /// Opens the copy in a folder, or downloads it, and follows the writer.
  package init(in folder: String, following bucket: ReplicaStorage) async throws {
    var options = ReplicaFollowerOptions()
    options.pollInterval = .milliseconds(100)
    follower = try await Replica.follower(
      at: folder, of: bucket, entities: [Note.self], options: options)
  }

  /// The notes, and again after each change of the copy.
  package var updates: ResultUpdates<Note> { follower.updates(of: Note.inOrder) }

  /// The state of the copy.
  package var status: ReplicaFollowerStatus { follower.status }

  /// Ends the follower and closes the copy.
  package func close() async {
    await follower.stop()
    follower.store.close()
  }
}
