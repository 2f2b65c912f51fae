internal import LodestoreBytes

/// A document at a fixed address, so that values can point into it.
///
/// `@unchecked Sendable`: the bytes are written in the initializer only and freed in the
/// deinitializer.
final class ConstantDocument: @unchecked Sendable {
  let bytes: ByteView

  init(_ document: [UInt8]) { bytes = .copy(of: document) }

  deinit { bytes.deallocate() }
}
