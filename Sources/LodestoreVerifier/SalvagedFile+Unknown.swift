import LMDB
import LodestoreFormat
internal import LodestorePages

extension SalvagedFile {
  /// Takes the counters that are in their range: they have no checksum.
  func readCounters() throws {
    let hasGaps = try walk(TreeName.counters) { key, body in
      // Where an index is built anew, or begun anew, nothing counts how far it is.
      if key.first == 4 { return }
      let name = Finding.hexadecimal(key)
      guard let most = Self.most(key), body.count == 8 else {
        problems.append("counter \(name) is none that the format lists")
        return
      }
      let value = body._uint64(at: 0)
      guard (1...most).contains(value) else {
        problems.append(
          "counter \(name) says \(value), must be 1 to \(most): numbers go on behind the highest found"
        )
        return
      }
      counters[Array(key)] = value
    }
    if hasGaps { problems.append("some counters cannot be read") }
  }

  /// What a counter may say at most; `nil` for a key that is none of a counter of numbers.
  private static func most(_ key: UnsafeRawBufferPointer) -> UInt64? {
    if CatalogueKey.entityNumber(key) != nil { return 1 << 63 }
    let isOfNumbers =
      key.elementsEqual(CounterKey.nextEntity) || key.elementsEqual(CounterKey.nextRelationship)
    return isOfNumbers ? UInt64(UInt32.max) : nil
  }
}
