import CChecksum
import LodestoreBytes

/// CRC-32C.
///
/// See Format.md, "Checksums".
///
/// Chosen over XXH3 by measurement on records of 170 bytes: with the processor's instruction it
/// costs about as much, it finds every burst of up to 32 bits for certain, and a reader in another
/// language writes it in ten lines.
package struct Checksum: Sendable {
  package private(set) var value: UInt32 = 0

  package init() {}

  /// Continues after bytes whose checksum is `value`.
  package init(resuming value: UInt32) { self.value = value }

  @inline(__always)
  package mutating func combine(_ bytes: ByteView) {
    value = lodestore_crc32c(value, bytes.baseAddress, bytes.count)
  }

  /// The checksum of a record: over its id, then its body without the checksum.
  package static func record(id: UInt64, body: ByteView) -> UInt32 {
    lodestore_crc32c_record(id, body.baseAddress, body.count)
  }

  /// Whether the checksum at the end of a record, of six bytes at least, is that of its bytes.
  package static func fits(_ record: ByteView, id: UInt64) -> Bool {
    let count = record.count - RecordLayout.checksumSize
    return lodestore_crc32c_record(id, record.baseAddress, count) == record.uint32(at: count)
  }

  /// The XOR of a checksum before and after `difference` is XORed into its bytes, `behind` bytes
  /// before their end.
  package static func change(_ difference: ByteView, behind: Int) -> UInt32 {
    lodestore_crc32c_difference(difference.baseAddress, difference.count, behind)
  }

  /// XORs `difference` into the bytes of a record at `offset`, and adjusts its checksum.
  ///
  /// A record whose checksum did not fit has one that does not fit afterwards: damage stays known.
  package static func add(_ difference: ByteView, at offset: Int, to record: MutableByteView) {
    for (index, byte) in difference.enumerated() { record[offset + index] ^= byte }
    let end = record.count - RecordLayout.checksumSize
    let change = change(difference, behind: end - offset - difference.count)
    let stored = ByteView(record).uint32(at: end)
    record.storeBytes(of: (stored ^ change).littleEndian, toByteOffset: end, as: UInt32.self)
  }

  /// Writes the checksum of a record, of six bytes at least, to its end.
  package static func seal(_ record: MutableByteView, id: UInt64) {
    let count = record.count - RecordLayout.checksumSize
    let checksum = lodestore_crc32c_record(id, record.baseAddress, count)
    record.storeBytes(of: checksum.littleEndian, toByteOffset: count, as: UInt32.self)
  }

  /// Writes the checksum of each of the consecutive records at `records`, which end at `ends` and have
  /// consecutive ids from `firstID` on; returns the digest of these records.
  package static func seal(
    _ records: UnsafeMutableRawPointer, ends: UnsafeBufferPointer<Int>, firstID: UInt64
  ) -> ContentDigest {
    var digest = ContentDigest()
    var id = firstID
    var start = 0
    for end in ends {
      let content = end &- start &- RecordLayout.checksumSize
      let checksum = lodestore_crc32c_record(id, records + start, content)
      records.storeBytes(
        of: checksum.littleEndian, toByteOffset: start &+ content, as: UInt32.self)
      digest += ContentDigest(record: id, checksum: checksum)
      start = end
      id &+= 1
    }
    return digest
  }

  /// The body of a catalogue, bucket or import pair: checksum over key and content, then content.
  package static func sealed(key: [UInt8], content: [UInt8]) -> [UInt8] {
    var checksum = Checksum()
    key._withBytes { checksum.combine($0) }
    content._withBytes { checksum.combine($0) }
    return littleEndianBytes(checksum.value) + content
  }

  /// The content of a sealed body; throws when its checksum does not fit.
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
