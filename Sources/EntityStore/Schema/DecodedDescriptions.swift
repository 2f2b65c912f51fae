internal import LMDB
internal import LodestoreFormat

/// Entity descriptions by the bytes that they were decoded from, in any store of the process.
///
/// Decoding a description and checking its rules takes most of the time of opening a store. A program that opens
/// a store again decodes only what has changed since.
final class DecodedDescriptions: Sendable {
  /// More descriptions than this are forgotten, all at once.
  private static let limit = 256

  private let known = Guarded<[[UInt8]: EntityDescription]>([:])

  /// Returns the description of equal bytes, or what `decode` makes.
  ///
  /// - Parameter pair: the key and the body of the description, whose checksum was right when they were decoded.
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
