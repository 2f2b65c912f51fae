internal import LMDB
internal import LodestoreFormat

/// A cache of entity descriptions by the bytes that they were decoded from, for all stores of the
/// process.
///
/// Decoding a description and checking its rules takes most of the time of opening a store. A
/// program that opens a store again decodes only changed descriptions.
final class DecodedDescriptions: Sendable {
  /// The number of descriptions at which the cache is emptied.
  private static let limit = 256

  private let known = Guarded<[[UInt8]: EntityDescription]>([:])

  /// Returns the description cached for equal bytes, or the result of `decode`.
  ///
  /// - Parameter pair: the key and the body of the description. Their checksum was verified when
  ///   they were decoded.
  func description(
    of pair: [UInt8], _ decode: () throws(FormatError) -> EntityDescription
  ) throws(FormatError) -> EntityDescription {
    if let found = known.withLock({ $0[pair] }) { return found }
    let made = try decode()
    known.withLock { known in
      if known.count >= Self.limit { known.removeAll() }
      known[pair] = made
    }
    return made
  }
}
