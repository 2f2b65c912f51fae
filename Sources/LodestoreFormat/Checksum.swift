import CChecksum
import LodestoreBytes

/// CRC-32C, computed over any number of byte ranges.
///
/// See Format.md, "Checksums".
///
/// CRC-32C was chosen over XXH3 after measurements on records of 170 bytes. With the processor's
/// instruction, CRC-32C costs about as much as XXH3. CRC-32C detects every error burst of up to 32
/// bits, and a reader in another language implements it in ten lines.
package struct Checksum: Sendable {
  package private(set) var value: UInt32 = 0

  package init() {}

  /// Continues after bytes whose checksum is `value`.
  package init(resuming value: UInt32) { self.value = value }

  @inline(__always)
  package mutating func combine(_ bytes: ByteView) {
    value = lodestore_crc32c(value, bytes.baseAddress, bytes.count)
  }

  /// The checksum of a record: over its id, then over its body without the checksum.
  package static func record(id: UInt64, body: ByteView) -> UInt32 {
    lodestore_crc32c_record(id, body.baseAddress, body.count)
  }

  /// Whether the last four bytes of a record are the checksum of the rest.
  ///
  /// The record must have at least six bytes.
  package static func fits(_ record: ByteView, id: UInt64) -> Bool {
    let count = record.count - RecordLayout.checksumSize
    return lodestore_crc32c_record(id, record.baseAddress, count) == record.uint32(at: count)
  }

  /// The change of a checksum when `difference` is XORed into its bytes.
  ///
  /// XOR the result with the checksum.
  ///
  /// - Parameter behind: The number of bytes after the changed bytes.
  package static func change(_ difference: ByteView, behind: Int) -> UInt32 {
    lodestore_crc32c_difference(difference.baseAddress, difference.count, behind)
  }

  /// XORs `difference` into the bytes of a record at `offset`, and updates its checksum.
  ///
  /// If the checksum was wrong before, it is wrong afterwards, so damage remains detectable.
  package static func add(_ difference: ByteView, at offset: Int, to record: MutableByteView) {
    for (index, byte) in difference.enumerated() { record[offset + index] ^= byte }
    let end = record.count - RecordLayout.checksumSize
    let change = change(difference, behind: end - offset - difference.count)
    let stored = ByteView(record).uint32(at: end)
    record.storeBytes(of: (stored ^ change).littleEndian, toByteOffset: end, as: UInt32.self)
  }

  /// Writes the checksum into the last four bytes of a record, which must have at least six bytes.
  package static func seal(_ record: MutableByteView, id: UInt64) {
    let count = record.count - RecordLayout.checksumSize
    let checksum = lodestore_crc32c_record(id, record.baseAddress, count)
    record.storeBytes(of: checksum.littleEndian, toByteOffset: count, as: UInt32.self)
  }

  /// Writes the checksum of each of the consecutive records at `records` and returns the digest of
  /// these records.
  ///
  /// - Parameters:
  ///   - ends: The offset at which each record ends.
  ///   - firstID: The id of the first record. The following records have the following ids.
  package static func seal(
    _ records: UnsafeMutableRawPointer, ends: UnsafeBufferPointer<Int>, firstID: UInt64
  ) -> ContentDigest {
    var digest = ContentDigest()
    var id = firstID
    var start = 0
    for end in ends {
      let content = end &- start &- RecordLayout.checksumSize
      let checksum = lodestore_crc32c_record(id, records + start, content)
      records.storeBytes(of: checksum.littleEndian, toByteOffset: start &+ content, as: UInt32.self)
      digest += ContentDigest(record: id, checksum: checksum)
      start = end
      id &+= 1
    }
    return digest
  }

  /// The body of a pair of the catalogue, a bucket or an import: the checksum over key and content,
  /// then the content.
  package static func sealed(key: [UInt8], content: [UInt8]) -> [UInt8] {
    var checksum = Checksum()
    key._withBytes { checksum.combine($0) }
    content._withBytes { checksum.combine($0) }
    return littleEndianBytes(checksum.value) + content
  }

  /// The content of a body made by ``sealed(key:content:)``; throws if its checksum does not match.
  package static func unsealed(key: ByteView, body: ByteView) throws(FormatError) -> ByteView {
    guard body.count >= 4 else {
      throw FormatError(
        "the body has \(body.count) bytes, must have at least 4 for its checksum", .sealedChecksum)
    }
    let content = body[4...]
    var checksum = Checksum()
    checksum.combine(key)
    checksum.combine(content)
    guard checksum.value == body.uint32(at: 0) else {
      throw FormatError("the checksum does not fit the bytes", .sealedChecksum, at: 0)
    }
    return content
  }
}
