import LMDB
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

@Suite("The reserved name of the record id")
struct ReservedNameTests {
  /// The attribute would have the same column as the ids, and conditions on it would be ambiguous.
  @Test(arguments: ["records", "export", "query"])
  func `an attribute with a reserved name makes a file damaged`(command: String) async throws {
    let store = try VerifiedStore()
    try store.change {
      try $0.edit(CatalogueKey.entity(1), .catalogue, "attributes.0.name", to: .string("_id"))
    }
    let findings = try Verifier.verify(path: store.path).findings
    #expect(findings.first?.rule == .catalogueAttributeName, "\(findings)")
    let memory = MemoryConsole()
    let status = await KVDump.execute([command, store.path, "Film"], on: memory.console)
    #expect(status == .damagedData, "\(memory.messages.text)")
    #expect(memory.messages.text.contains("'_id' is not an attribute name"))
  }

  @Test func `a relationship side with a reserved name makes a file damaged`() throws {
    let store = try VerifiedStore.kept()
    try store.change {
      try $0.edit(CatalogueKey.relationship(1), .catalogue, "to.name", to: .string("_id"))
    }
    let findings = try Verifier.verify(path: store.path).findings
    #expect(findings.first?.rule == .relationshipName, "\(findings)")
  }
}
