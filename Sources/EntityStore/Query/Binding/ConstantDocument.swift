/// A document in memory that stays where it is, so that values can point into it.
package final class ConstantDocument: @unchecked Sendable {
  // Written once, in the initializer.
  let bytes: UnsafeRawBufferPointer

  init(_ document: [UInt8]) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: document.count, alignment: 8)
    copy.copyBytes(from: document)
    bytes = UnsafeRawBufferPointer(copy)
  }

  deinit { bytes.deallocate() }
}
