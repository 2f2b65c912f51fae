import Foundation
import Testing

@testable import EntityStore

/// Records that are read, edited, and saved when others may have changed them.
@Suite struct `Edits of records` {
  private func withClause(
    _ body: (Store, Edit<Clause>) throws -> Void
  ) throws {
    try withTemporaryStore([Clause.self]) { store in
      let clause = try store.insert(Clause(name: "a", text: "old", weight: 1))
      try body(store, try store.edit(clause.id))
    }
  }

  @Test func `edits are saved if no other write has changed the record`() throws {
    try withClause { store, edit in
      var edit = edit
      edit.text = "new"
      #expect(edit.base.text == "old" && edit.value.text == "new")
      let saved = try store.update(edit)
      #expect(saved.text == "new" && saved.name == "a")
      #expect(try store.fetch(edit.base.id) == saved)
    }
  }

  @Test func `edits fail with both sides and the base after another change, also a batch update`()
    throws
  {
    try withClause { store, edit in
      var edit = edit
      edit.text = "mine"
      try store.update(Clause.all) { $0.weight.add(1) }
      let error = try storeError(.editConflict) { try store.update(edit) }
      let conflict = try #require(error.cause as? EditConflict<Clause>)
      #expect(conflict.base.weight == 1 && conflict.stored?.weight == 2)
      #expect(conflict.edited.text == "mine" && conflict.stored?.text == "old")
      #expect(conflict.changedByOthers == ["weight"] && conflict.changedByEdit == ["text"])
      #expect(try store.fetch(edit.base.id)?.text == "old")
    }
  }

  @Test func `edits are begun and saved asynchronously, with the same errors`()
    async throws
  {
    try await withTemporaryStore([Clause.self]) { store in
      let clause = try await store.insert(Clause(name: "a", text: "old", weight: 1))
      var edit = try await store.edit(clause.id)
      edit.text = "new"
      #expect(try await store.update(edit).text == "new")
      let error = await #expect(throws: StoreError.self) { try await store.update(edit) }
      let conflict = try #require(error?.cause as? EditConflict<Clause>)
      #expect(error?.code == .editConflict && conflict.changedByOthers == ["text"])
      let other = edit
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await store.update(other, onConflict: .overwrite)
      }
      try await store.update(Clause.all) { $0.text = "theirs" }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try await store.fetch(clause.id)?.text == "theirs")
      try await store.delete(clause.id)
      let gone = await #expect(throws: StoreError.self) { try await store.edit(clause.id) }
      #expect(gone?.code == .noSuchRecord)
    }
  }

  @Test(arguments: [
    (EditPolicy.keepStored, "theirs", 7 as Int?, "a2"),
    (.keepEdited, "mine", 7, "a2"), (.overwrite, "mine", 7, "a"), (.rollback, "theirs", 1, "a2"),
  ])
  func `edits are merged as the policy states`(
    policy: EditPolicy, text: String, weight: Int?, name: String
  ) throws {
    try withClause { store, edit in
      var edit = edit
      edit.text = "mine"
      edit.weight = 7
      try store.modify(edit.base.id) {
        $0.text = "theirs"
        $0.name = "a2"
      }
      let saved = try store.update(edit, onConflict: policy)
      #expect((saved.text, saved.weight, saved.name) == (text, weight, name))
      #expect(try store.fetch(edit.base.id) == saved)
    }
  }

  @Test func `edits of a deleted record fail, and report the deletion`() throws {
    try withClause { store, edit in
      try store.delete(edit.base.id)
      let error = try storeError(.editConflict) { try store.update(edit, onConflict: .overwrite) }
      #expect((error.cause as? EditConflict<Clause>)?.stored == nil)
      #expect(error.message.contains("it was deleted"))
      _ = try storeError(.noSuchRecord) { try store.update(edit, onConflict: .rollback) }
      _ = try storeError(.noSuchRecord) { try store.edit(edit.base.id) }
    }
  }

  @Test func `edits leave derived attributes to the store, and unique keys to their check`() throws
  {
    try withTemporaryStore(Library.entities) { store in
      let author = try store.insert(Author(name: "a"))
      var edit = try store.edit(author.id)
      edit.name = "b"
      // The store derives the count of books, so its change does not count as a change by others.
      try store.insert(Book(title: "t", author: author.id))
      #expect(try store.update(edit).bookCount == 1)
      try store.insert(Author(name: "c"))
      var other = try store.edit(author.id)
      other.name = "c"
      _ = try storeError(.uniqueViolation) { try store.update(other) }
    }
  }
}
