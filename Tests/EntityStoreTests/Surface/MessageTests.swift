import Foundation
import Testing

@testable import EntityStore

/// The text of a message for a first-time reader.
@Suite struct `Messages` {
  @Test func `the message for an id that was never given states that the value was never inserted`()
    throws
  {
    try withTemporaryStore(Library.entities) { store in
      let shelf = try store.insert(Shelf(name: "s")).id
      let unsaved = Book(title: "new")
      let errors = [
        try storeError(.noSuchRecord) { try store.add(unsaved.id, to: Shelf.books, of: shelf) },
        try storeError(.noSuchRecord) { try store.modify(unsaved.id) { $0.pages = 1 } },
      ]
      for error in errors {
        #expect(
          error.message.hasPrefix("cannot find this Book: it was never inserted, so its id is 0"),
          "\(error)")
      }
      let gone = try storeError(.noSuchRecord) {
        try store.modify(RecordID<Book>(rawValue: 7)) { $0.pages = 1 }
      }
      #expect(gone.message == "cannot find Book 7: no record has this id")
    }
  }

  @Test func `the message for a missing permission names the refused operation`() {
    func fault(_ allowed: [String: Int32]) -> String {
      StoreError.permissionFault(at: "/data/pods/a.store") { path, mode in
        allowed[path].map { $0 & mode == mode } ?? false
      }
    }
    let all = R_OK | W_OK | X_OK
    #expect(fault([:]).contains("may not enter the directory '/data/pods'"))
    #expect(
      fault(["/data/pods": X_OK]).contains(
        "make files in the directory '/data/pods', and the store"))
    #expect(
      fault(["/data/pods": X_OK, "/data/pods/a.store": R_OK | W_OK])
        .contains("make files in the directory '/data/pods', and the lock file"))
    #expect(
      fault(["/data/pods": all, "/data/pods/a.store": W_OK]).contains("may not read the file"))
    #expect(
      fault(["/data/pods": all, "/data/pods/a.store": R_OK]).contains("may not write the file"))
    #expect(
      fault(["/data/pods": all, "/data/pods/a.store": R_OK | W_OK, "/data/pods/a.store-lock": R_OK])
        .contains("lock file '/data/pods/a.store-lock'; readers need write access"))
  }

  @Test func `the message for a rejected record is a sentence with its place`() {
    var report = ImportReport()
    report.reject(
      .init(
        page: 2, record: 5, byteOffset: 812, attribute: "stars", reason: "'stars' must be at most 5"
      ))
    report.reject(.init(page: 3, record: 1, byteOffset: nil, reason: "it is no object"))
    #expect("\(report.rejects[0])" == "page 2 record 5, at byte 812: 'stars' must be at most 5")
    #expect("\(report.rejects[1])" == "page 3 record 1: it is no object")
    report.rejects[1].file = "films.jsonl"
    report.rejects[1].line = 12
    #expect(
      "\(report.rejects[1])" == "films.jsonl line 12, page 3 record 1: it is no object")
  }

  @Test func `Foundation shows the message of an error`() throws {
    let error: any Error = StoreError(.readOnly, message: "cannot write: the store is read-only")
    #expect(error.localizedDescription == "cannot write: the store is read-only")
  }

  @Test func `the message for an attribute that older records lack names every remedy`() {
    let message = StoreError.missingInitialValue(entity: "Film", attribute: "made").message
    for part in [
      "Date(), .now and UUID() are not", "@Attribute(initial:", ".add(\"made\", to: \"Film\"",
      "optional",
    ] {
      #expect(message.contains(part), "\(message)")
    }
  }
}
