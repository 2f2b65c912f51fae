import Foundation
import Lodestore

/// Reads the changes in pieces, as events for a client.
///
/// A client has only a position in the history. There is no queue that could grow when the client
/// is slow.
struct ChangeReader {
  let store: Store
  /// The last write that the client has received.
  private var place: HistoryToken

  /// The largest number of changes that are read and sent at once.
  private static let pieceSize = 200

  /// The write whose changes are being sent.
  ///
  /// A write of a million inserts needs little memory, because its changes are one range of ids.
  private var write: HistoryWrite?
  private var changes: HistoryChanges.Iterator?
  private var untoldCount = 0

  init(store: Store, place: HistoryToken) { (self.store, self.place) = (store, place) }

  /// Returns the next events as text; `nil` if the client has received all events.
  mutating func next() async throws -> String? {
    if write == nil {
      write = try await nextWrite()
      changes = write?.changes.makeIterator()
      untoldCount = write?.changes.count ?? 0
    }
    guard let write else { return nil }
    var piece: [HistoryChange] = []
    while piece.count < Self.pieceSize, let change = changes?.next() { piece.append(change) }
    untoldCount -= piece.count
    let events = try await store.read { [piece] snapshot in
      try piece.compactMap { try ChangeEvent($0, snapshot) }
    }
    let text = events.map { "event: \($0.kind)\ndata: \($0.json)\n\n" }.joined()
    if untoldCount > 0 { return text }
    self.write = nil
    place = write.token
    // Only the end of a write has an id, so a client that reconnects in the middle receives the
    // whole write again. A migration may have changed podspecs that it does not list.
    let kind = write.restartedEntities.isEmpty ? "committed" : "reset"
    return text + "event: \(kind)\nid: \(place)\ndata: \(write.json)\n\n"
  }

  private func nextWrite() async throws -> HistoryWrite? {
    let query = HistoryQuery.after(place).of(Podspec.self).limit(1)
    return try await store.history(query).first
  }
}

private struct ChangeEvent {
  let kind: String
  let json: String

  /// Returns `nil` if a later write has deleted the podspec, because a later event reports the
  /// deletion.
  init?(_ change: HistoryChange, _ snapshot: borrowing Snapshot) throws {
    guard let id = change.id(of: Podspec.self) else { return nil }
    kind = change.kind.rawValue
    var members: [String: JSONValue]
    if change.kind == .deleted {
      guard let name = try snapshot.preserved(\Podspec.Attributes.name, of: change),
        let version = try snapshot.preserved(\Podspec.Attributes.version, of: change)
      else { return nil }
      members = ["name": .string(name), "version": .string(version)]
    } else {
      guard let spec = try snapshot.fetch(id) else { return nil }
      members = [
        "name": .string(spec.name), "version": .string(spec.version),
        "href": .string(Paths.spec(spec.name, spec.version)),
        "etag": .string(EntityTag(spec).description),
      ]
    }
    json = JSONValue.object(members).description
  }
}

extension HistoryWrite {
  /// The time, the author and the number of changes of the write.
  fileprivate var json: String {
    JSONValue.object([
      "time": .string(time.formatted(.iso8601)), "author": author.map { .string($0) } ?? .null,
      "changes": .integer(Int64(changes.count)),
    ]).description
  }
}
