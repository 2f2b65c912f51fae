import EntityStore
import LMDB
import LodestoreFormat
import LodestorePages
import LodestoreVerifier

/// Checks a copy of a store before it gets its name.
///
/// First it checks the parts that are most often damaged, and reports the entity and the record.
/// These are the checksum of every record, one entry for each record in every index, and the
/// content of buckets and imports. Afterwards it checks all rules that `kvdump verify` checks.
struct CopyCheck {
  private(set) var entityCount = 0
  private(set) var recordCount = 0

  /// Throws the first fault.
  ///
  /// The error for a fault of a record names the entity and the id.
  init(_ path: String, on console: Console) throws {
    (entityCount, recordCount) = try ReadStore.read(path, on: console) { snapshot in
      var count = 0
      for entity in snapshot.entities {
        let check = try EntityCheck(entity, snapshot) { record in
          _ = try record.reader(verifyingChecksum: true)
        }
        try check.checkIndexes()
        count += check.recordCount
      }
      return (snapshot.entities.count, count)
    }
    try ReadStore.withEnvironment(path, on: console) { environment in
      for name in [TreeName.buckets, .imports] { try Self.checkSums(of: name, environment) }
    }
    if let finding = try Verifier.verify(path: path).findings.first {
      throw CommandFailure.damagedContent("\(finding)")
    }
  }

  private static func checkSums(of name: TreeName, _ environment: Environment) throws {
    guard
      let tree = try environment.openExistingTree(name.text, hasIntegerKeys: false)
    else { return }
    try environment.read { transaction in
      try transaction.forEachPair(of: tree) { key, body in
        do {
          _ = try Checksum.unsealed(key: key, body: body)
        } catch {
          throw CommandFailure.damagedPair(
            of: name.text, key: Finding.hexadecimal(key), reason: "\(error)")
        }
      }
    }
  }
}
