import LodestoreBytes

/// The keys of a search index.
///
/// See Format.md, "Search indexes".
package enum SearchKey {
  /// The maximum number of bytes of a term.
  package static let longestTerm = 120
  /// The number of records whose lengths are in one value.
  @inlinable package static var chunkSize: UInt64 { 512 }
  /// The key of the number of records and of their words.
  package static let statistics: [UInt8] = [0, 1]

  /// The key of the lengths of the records with ids from `chunk * 512`.
  package static func lengths(chunk: UInt64) -> [UInt8] { [0, 2] + bigEndianBytes(chunk) }

  /// The chunk of a key that ``lengths(chunk:)`` has made; `nil` for any other key.
  package static func chunk(_ key: ByteView) -> UInt64? {
    guard key.count == 10, key[0] == 0, key[1] == 2 else { return nil }
    return key.bigEndianUInt64(at: 2)
  }

  /// Makes the key of the block of `term` that ends with the record `lastID`; the term's last block
  /// if `lastID` is `nil`.
  ///
  /// The last block of a term is above all others, whatever its ids. So a search for an id finds the
  /// block that has it, or would have it.
  package static func setBlock(
    of term: ByteView, endingWith lastID: UInt64?, in key: inout [UInt8]
  ) {
    key.removeAll(keepingCapacity: true)
    key.append(contentsOf: term)
    key.append(0)
    guard let lastID else { return key.append(lastBlock) }
    let byteCount = max(1, (64 - lastID.leadingZeroBitCount + 7) / 8)
    key.append(UInt8(byteCount))
    for byte in (0..<byteCount).reversed() {
      key.append(UInt8(truncatingIfNeeded: lastID >> UInt64(byte * 8)))
    }
  }

  /// The byte after the term of the term's last block.
  package static let lastBlock: UInt8 = 0xFF

  /// The term of a block's key, and the id that the key names; `nil` for any other key.
  package static func block(_ key: ByteView) -> (term: ByteView, lastID: UInt64?)? {
    guard let zero = key.firstIndex(of: 0), zero > 0, zero <= longestTerm, key.count > zero + 1
    else { return nil }
    let length = key[zero + 1]
    let rest = key.count - zero - 2
    if length == lastBlock { return rest == 0 ? (key[..<zero], nil) : nil }
    guard length >= 1, length <= 8, rest == Int(length) else { return nil }
    var id: UInt64 = 0
    for byte in key[(zero + 2)...] { id = id << 8 | UInt64(byte) }
    // The shortest form alone is allowed, because another one would be at another place.
    guard length == 1 || key[zero + 2] != 0 else { return nil }
    return (key[..<zero], id)
  }
}
