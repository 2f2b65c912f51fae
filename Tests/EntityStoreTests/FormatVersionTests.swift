import Foundation
import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

@Suite struct `Versions of the format` {
  private func requirement(_ store: Store) throws -> FormatRequirement {
    try store.core.read { try Catalogue.requirement(store.core.trees.header, in: $0.transaction) }
  }

  private let first = FormatRequirement(reader: .first, writer: .schemas)
  private let second = FormatRequirement(reader: .recordIDs, writer: .schemas)

  @Test func `a file needs the first reader and a writer of digests until it uses more`()
    throws
  {
    try withTemporaryPath { path in
      let plain = try Store(at: path, entities: [Film.self, Pod.self])
      #expect(try requirement(plain) == first)
      plain.close()
      let newer = try Store(at: path, entities: [Film.self, Membership.self])
      #expect(try requirement(newer) == second)
      newer.close()
      try expectSound(path)
      // The file still requires the version of a feature that it once used.
      let again = try Store(at: path, entities: [Film.self])
      #expect(try requirement(again) == second)
      again.close()
    }
  }

  @Test func `a refused declaration raises no version`() throws {
    struct Twice: Entity {
      var id = RecordID<Twice>()
      var film: RecordID<Film>
      var title: String
      struct Attributes: Sendable {
        var id: Attribute<Twice, RecordID<Twice>> { .recordID }
        var film: Attribute<Twice, RecordID<Film>> { .init(0) }
        var title: Attribute<Twice, String> { .init(1) }
      }

      static var attributes: Attributes { Attributes() }

      static let schema = EntitySchema<Twice>(
        "Film", attributes: [.init("film", \.film), .init("title", \.title)])
      func encode(into writer: inout RecordWriter) {
        writer.write(film)
        writer.write(title)
      }
      init(from reader: inout RecordReader) throws(StoreError) {
        film = try reader.read()
        title = try reader.read()
      }
    }
    try withTemporaryPath { path in
      let store = try Store(at: path, entities: [Film.self])
      try store.write { try $0.insert(Film(title: "a", episode: 1)) }
      store.close()
      // The file has records, and the new attribute has no initial value for them.
      _ = try storeError(.incompatibleSchema) { try Store(at: path, entities: [Twice.self]) }
      let after = try Store(at: path, entities: [Film.self])
      #expect(try requirement(after) == first)
      after.close()
    }
  }

  @Test func `an open store notices that another store needs a later version`() throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let reader = try Store(at: path, entities: [Film.self])
    let writer = try StoreCore(path: path, options: .init())
    try writer.environment.write { transaction in
      try transaction.put(
        HeaderField.format.key, FormatRequirement(lowestReader: 1, lowestWriter: 99).bytes,
        in: writer.trees.header)
      try writer.trees.raiseSchemaNumber(in: transaction)
    }
    let error = try storeError(.newerFormat) {
      try reader.write { try $0.insert(Film(title: "a", episode: 1)) }
    }
    #expect(error.message.contains("needs a writer of format 99"))
    writer.close()
    reader.close()
    // A program that only reads does not need the higher version.
    let options = StoreOptions.readOnly
    let again = try Store(at: path, entities: [Film.self], options: options)
    #expect(try again.read { try $0.count(Film.all) } == 0)
    again.close()
    _ = try storeError(.newerFormat) { try Store(at: path, entities: [Film.self]) }
  }

  @Test func `the header must require the versions of all used features`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Membership.self])
    try store.core.environment.write { transaction in
      let first = FormatFeature.base.requirement
      try transaction.put(HeaderField.format.key, first.bytes, in: store.core.trees.header)
    }
    store.close()
    let report = try Verifier.verify(path: folder.storePath)
    #expect(report.findings.map(\.code) == [.header])
    #expect(
      report.findings.first?.detail
        == "is 1 and 1, what the store uses needs at least 2 and 6")
  }
}
