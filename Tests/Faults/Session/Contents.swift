import EntityStore

/// The records of a store, by key.
typealias Contents = [Int: Row]

extension Contents {
  /// Reads the contents of the newest commit, as the newer program sees it.
  init(_ store: Store) throws {
    self.init()
    for item in try store.fetch(ItemV2.all) { self[item.row.key] = item.row }
  }

  /// FNV-1a over all rows in the order of their keys.
  var digest: UInt64 {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ text: String) {
      for byte in text.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    for key in keys.sorted() {
      guard let row = self[key] else { continue }
      add("\(row.key)|\(row.name)|\(row.group)|\(row.rank ?? 0)|\(row.note)\n")
    }
    return digest
  }
}

/// The possible contents of a store.
///
/// After a failed write, they are the contents before the write and the contents with it.
struct PossibleContents {
  private(set) var all: [Contents] = [[:]]

  /// The contents, if they are known.
  var only: Contents? { all.count == 1 ? all[0] : nil }

  mutating func add(_ step: Step) { all = all.map(step.applied) }

  mutating func addPossibly(_ step: Step) {
    for contents in all.map(step.applied) where !all.contains(contents) { all.append(contents) }
  }

  /// Returns false if `found` is none of the possible contents.
  mutating func narrow(to found: Contents) -> Bool {
    guard all.contains(found) else { return false }
    all = [found]
    return true
  }
}
