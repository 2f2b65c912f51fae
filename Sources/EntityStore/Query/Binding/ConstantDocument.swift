internal import LodestoreBytes

/// A document in memory that stays where it is, so that values can point into it.
///
/// `@unchecked Sendable`: the bytes are written in the initializer only, and freed with the last
/// reference.
final class ConstantDocument: @unchecked Sendable {
  let bytes: ByteView

  init(_ document: [UInt8]) {
    bytes = .copy(of: document)
  }

  deinit { bytes.deallocate() }
}
