import LMDB
import LodestoreBytes
import LodestoreFormat

@testable import KVDumpCommands

extension RawStore {
  /// Calculates all digests of the content, and stores them.
  func putDigests() throws {
    try put(
      HeaderField.format.key, FormatRequirement(of: [.base, .contentDigest]).bytes, .header)
    let names = try transaction.reads.treeNames().compactMap { TreeName($0) }
    for (name, content) in names.compactMap({ name in DigestedContent(of: name).map { (name, $0) } }
    ) {
      var digest = ContentDigest()
      for pair in try pairs(name) {
        let number = pair.key._withBytes { key in
          pair.body._withBytes { ContentDigest(of: content, key: key, body: $0) }
        }
        digest += try required(number)
      }
      if digest != ContentDigest() { try put(content.key, digest.bytes, .digests) }
    }
  }
}

extension Fault {
  /// Faults of Format.md, "Digests" and "Second copy".
  static let digestFaults: [Fault] = [
    Fault("the second copy of a description is another one") { store in
      try store.put(
        HeaderField.format.key, FormatRequirement(of: [.base, .catalogueCopy]).bytes, .header)
      for pair in try store.pairs(.catalogue) { try store.put(pair.key, pair.body, .catalogueCopy) }
      for field in CatalogueCopyKey.fields {
        guard let body = try store.transaction.get(field.key, in: store.tree(.header)) else {
          continue
        }
        let (key, content) = (CatalogueCopyKey.key(of: field), Array(body))
        try store.put(key, Checksum.sealed(key: key, content: content), .catalogueCopy)
      }
      let key = CatalogueKey.entity(2)
      try store.put(key, Checksum.sealed(key: key, content: [0]), .catalogueCopy)
    },
    Fault("a digest is of an entity that is not there") { store in
      try store.putDigests()
      let content = DigestedContent.records(entity: 77)
      try store.put(content.key, [UInt8](repeating: 1, count: 16), .digests)
    },
    Fault("a digest has 8 bytes") { store in
      try store.putDigests()
      try store.put(DigestedContent.buckets.key, [UInt8](repeating: 1, count: 8), .digests)
    },
    Fault("a record is lost with its entries") { store in
      try store.putDigests()
      let id = littleEndianBytes(UInt64(4))
      try store.remove(id, .records(entity: 2))
      let index = TreeName.index(entity: 2, index: 1)
      let entry = try store.pairs(index).first { $0.key.suffix(8).elementsEqual(id.reversed()) }
      try store.remove(try required(entry).key, index)
    },
  ]
}
