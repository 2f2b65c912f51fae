import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// The UUID of a copy, which its history's tokens have.
@Suite struct `Copies with a UUID of their own` {
  @Test func `a copy refuses the tokens of its origin, and its file stays sound`() throws {
    let folder = try TemporaryFolder()
    let options = StoreOptions.history(.images)
    let store = try Store(at: folder.storePath, entities: [Player.self], options: options)
    try store.insert(Player(name: "a"))
    let token = try store.historyToken()
    let path = folder.path + "/copy.lodestore"
    try store.backup(to: path)
    let copy = try Store(at: path, entities: [Player.self], options: options)
    #expect(try copy.read { try $0.history(.after(token)) }.isEmpty)
    let before = try copy.read { try $0.replayFacts() }
    try copy.replaying(author: nil, context: nil) { try $0.renewStoreID() }
    let after = try copy.read { try $0.replayFacts() }
    #expect(after.storeID != before.storeID && after.storeID.count == 16)
    // The content, the schema and the history are the same.
    var renewed = before
    renewed.storeID = after.storeID
    #expect(after == renewed)
    let error = #expect(throws: StoreError.self) {
      try copy.read { try $0.history(.after(token)) }
    }
    #expect(error?.code == .invalidQuery)
    copy.close()
    store.close()
    try expectSound(path)
    let opened = try Store(at: path, entities: [Player.self], options: options)
    #expect(try opened.historyToken().storeID != token.storeID)
    #expect(try opened.fetch(Player.all).map(\.name) == ["a"])
    opened.close()
  }
}
