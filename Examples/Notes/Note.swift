import Foundation
import Lodestore

/// A note that one machine writes and all machines read.
@Entity package struct Note {
  #Index<Note>([\.writtenAt])

  package var text: String
  package var writtenAt: Date

  /// Replicas send the history, so the entity keeps one.
  package static let history = HistoryPolicy<Note>.kept(images: true)

  /// All notes in the order in which they were written.
  package static var inOrder: Query<Note> { all.sorted(by: \.writtenAt, \.id) }
}
