/// The versions of the file format, and what each changed.
///
/// See Format.md, "Purpose and versions".
package enum FormatVersion: UInt32, Sendable, CaseIterable {
  /// The first.
  case first = 1

  /// The version that this library reads and writes.
  package static let current = FormatVersion.first
}

/// The two numbers of a store's header.
package struct FormatRequirement: Sendable, Equatable {
  /// The lowest format version that a reader must know.
  package var lowestReader: UInt32
  /// The lowest format version that a writer must know.
  package var lowestWriter: UInt32

  package init(lowestReader: UInt32, lowestWriter: UInt32) {
    self.lowestReader = lowestReader
    self.lowestWriter = lowestWriter
  }

  /// What this library writes into a new store.
  package static let current = FormatRequirement(lowestReader: 1, lowestWriter: 1)

  package var bytes: [UInt8] {
    littleEndianBytes(lowestReader) + littleEndianBytes(lowestWriter)
  }

  package init(bytes: UnsafeRawBufferPointer) throws(FormatError) {
    guard bytes.count == 8 else {
      throw FormatError("header field 'format' has \(bytes.count) bytes, must have 8")
    }
    lowestReader = bytes.uint32(at: 0)
    lowestWriter = bytes.uint32(at: 4)
  }
}
