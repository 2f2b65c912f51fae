import LMDB
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

@Suite("A catalogue beyond its limit")
struct ManyEntitiesTests {
  /// Two of the entities, far apart in number, have the same name.
  @Test func `the verifier reports too many entities once, and skips those beyond the limit`()
    throws
  {
    let store = try VerifiedStore()
    let numbers = UInt32(100)..<4_200
    try store.change { raw in
      for number in numbers {
        let entity = EntityDescription(
          number: EntityNumber(number), name: "E\(number == 4_000 ? 200 : number)",
          attributes: [.init(number: 1, name: "a", type: .bool, isOptional: false)],
          layouts: [
            RecordLayout(
              number: 1, attributes: [.init(number: 1, type: .bool, isOptional: false)])
          ], currentLayout: 1, indexes: [])
        try raw.putCatalogue(entity.number, entity.document)
      }
    }
    let report = try Verifier.verify(path: store.path, limit: 0)
    let limit = report.findings.filter { $0.rule == .catalogueLimits }
    #expect(
      limit.map(\.detail) == [
        "4107 trees of entities, indexes, links and orders, at most 4,000; no more are looked at"
      ])
    let names = report.findings.filter { $0.rule == .catalogueEntityNameOnce }
    #expect(names.map(\.detail) == ["entities 200 and 4000 have the same name"])
    // The findings are about the missing record trees of the checked entities.
    #expect(report.count(of: .treeMissing) == 4_000 - 7)
  }
}
