/// A document at a fixed address, so that values can point into it.
///
/// `@unchecked Sendable`: the bytes are written in the initializer only and freed in the
/// deinitializer.
final class ConstantDocument: @unchecked Sendable {
  let bytes: UnsafeRawBufferPointer

  init(_ document: [UInt8]) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: document.count, alignment: 8)
    copy.copyBytes(from: document)
    bytes = UnsafeRawBufferPointer(copy)
  }

  deinit { bytes.deallocate() }
}
