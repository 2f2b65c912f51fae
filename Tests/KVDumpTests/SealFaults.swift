import LMDB
import LodestoreBytes
import LodestoreFormat

@testable import KVDumpCommands
@testable import LodestorePages

extension RawStore {
  /// Gives the store digests and a matching seal, and removes content that a sealed file must not
  /// have.
  ///
  /// The file's pages stay those of an ordinary store.
  func putSeal(_ change: (inout SealDescription) -> Void = { _ in }) throws {
    try putDigests()
    for pair in try pairs(.imports) { try remove(pair.key, .imports) }
    var requirement = FormatRequirement(of: [.base, .contentDigest])
    requirement.lowestWriter = SealDescription.lowestWriter
    try put(HeaderField.format.key, requirement.bytes, .header)
    var digest = ContentDigest()
    for pair in try pairs(.digests) {
      digest += try required(pair.body._withBytes { ContentDigest(bytes: $0) })
    }
    func fingerprint(_ names: [TreeName]) throws -> [UInt8] {
      var fingerprint = SchemaFingerprint()
      for pair in try names.flatMap({ try pairs($0) }) {
        pair.key._withBytes { key in
          pair.body._withBytes { fingerprint.add(key: key, body: $0) }
        }
      }
      return fingerprint.value
    }
    var seal = SealDescription(
      name: "films", generation: 1, dataAsOf: 1, sealedAt: 2, schema: try fingerprint([.catalogue]),
      header: try fingerprint([.header, .counters]), counts: ["Film": 6, "Pod": 4], digest: digest)
    change(&seal)
    try put(SealDescription.key, seal.body, .seal)
  }
}

extension Fault {
  /// Faults of Format.md, "Sealed files".
  static let sealFaults: [Fault] = [
    Fault("a store has a seal and not the mark") { try $0.putSeal() },
    Fault("a seal has another key") { store in
      try store.putSeal()
      try store.remove(SealDescription.key, .seal)
      try store.put(Array("other".utf8), [1], .seal)
    },
    Fault("a seal has generation 0") { try $0.putSeal { $0.generation = 0 } },
    Fault("the digest of a seal is another one") { try $0.putSeal { $0.digest = ContentDigest() } },
    Fault("a seal counts a record too many") { try $0.putSeal { $0.counts["Film"] = 7 } },
    Fault("the fingerprint of a seal is another one") { store in
      try store.putSeal { $0.schema = [UInt8](repeating: 1, count: SchemaFingerprint.size) }
    },
    Fault("the fingerprint of the header of a seal is another one") { store in
      try store.putSeal { $0.header = [UInt8](repeating: 1, count: SchemaFingerprint.size) }
    },
    Fault("a store with a seal may be written") { store in
      try store.putSeal()
      try store.put(
        HeaderField.format.key, FormatRequirement(of: [.base, .contentDigest]).bytes, .header)
    },
    Fault("a store with a seal has a report of an import") { store in
      try store.putSeal()
      let report = ImportKey.report(run: 1).bytes(name: "Film")
      let content = RawStore.importReport.encoded()
      try store.put(report, Checksum.sealed(key: report, content: content), .imports)
    },
  ]
}
