internal import LodestoreBytes
internal import LodestorePages
import LodestoreSystem

/// Patches between generations: one zstd frame that refers to the older file, in the format of
/// `zstd --patch-from`.
package enum DatasetPatch {
  /// The maximum size of a file that a patch starts from, in bytes.
  ///
  /// zstd cannot refer to bytes further back than this.
  static let fileLimit: UInt64 = 1 << 31

  /// The maximum size of a file made by a patch, in bytes.
  ///
  /// Applying a patch takes as much memory as the resulting file.
  static let appliedLimit: UInt64 = 1 << 30

  /// Checks that a file has the length and the SHA-256 of a patch.
  static func check(
    _ path: String, is entry: DatasetManifest.PatchFile
  ) throws(DatasetError) { _ = try bytes(of: path, entry) }

  private static func bytes(
    of path: String, _ entry: DatasetManifest.PatchFile
  ) throws(DatasetError) -> MappedBytes {
    let patch = try MappedBytes(reading: path)
    guard UInt64(patch.bytes.count) == entry.length else {
      throw .damagedPatch(
        entry.name, because: "it has \(patch.bytes.count) bytes, expected \(entry.length)")
    }
    guard SHA256Digest.digest(of: ByteView(patch.bytes)) == entry.sha256.bytes
    else { throw .damagedPatch(entry.name, because: "its SHA-256 is not the signed one") }
    return patch
  }

  /// Makes a generation from an older one.
  ///
  /// The output is byte-exact, and is checked against the manifest's digest before the call
  /// returns. The output is written piece by piece, so a full disk causes an error and not a crash.
  /// Memory use equals the output's size, at most 1 GiB; the two other files are mapped.
  ///
  /// - Parameters:
  ///   - patch: The path of the fetched patch.
  ///   - old: The path of the sealed file that the patch starts from.
  ///   - descriptor: An empty file, open for writing. The caller syncs it to the disk.
  ///   - output: The output's path, for messages.
  ///   - onPiece: Called after each piece of the output is written.
  /// - Throws: `DatasetError` with the code `damaged` if the patch does not have its signed digest
  ///   or does not produce the signed file. The content of the output is then meaningless.
  package static func apply(
    _ patch: String, to old: String, into descriptor: Int32, at output: String,
    as entry: DatasetManifest.PatchFile, of manifest: DatasetManifest,
    onPiece: () -> Void = {}
  ) throws(DatasetError) {
    let patchBytes = try bytes(of: patch, entry)
    guard manifest.length <= appliedLimit, entry.fromLength <= fileLimit else {
      throw .damagedPatch(entry.name, because: "its files are larger than patches are applied to")
    }
    let oldBytes = try MappedBytes(reading: old)
    guard UInt64(oldBytes.bytes.count) == entry.fromLength else {
      throw .damagedPatch(
        entry.name,
        because: "the older file has \(oldBytes.bytes.count) bytes, expected \(entry.fromLength)")
    }
    try FileBytes.cut(descriptor, to: 0, path: output)
    var tree = VerityTree()
    var offset: UInt64 = 0
    let reason = try ZstdDecoder().unpack(
      ByteView(patchBytes.bytes), length: manifest.length,
      prefix: ByteView(oldBytes.bytes)
    ) { (piece) throws(DatasetError) in
      try FileBytes.write(piece, to: descriptor, at: offset, path: output)
      tree.update(piece)
      offset += UInt64(piece.count)
      onPiece()
    }
    if let reason { throw .damagedPatch(entry.name, because: reason) }
    tree.finish()
    guard tree.digest == manifest.digest.bytes else {
      throw .damagedPatch(entry.name, because: "what it makes does not have the signed digest")
    }
  }
}

// MARK: - Making

extension DatasetPatch {
  /// Makes the patch from an older file to a newer one, unless it would be as large as `limit`.
  ///
  /// - Returns: The bytes of the patch; `nil` if it would not be smaller than `limit`, or if a file
  ///   is too large for readers.
  static func make(
    from old: MappedBytes, to new: MappedBytes, level: Int, smallerThan limit: UInt64
  ) throws(DatasetError) -> [UInt8]? {
    guard UInt64(old.bytes.count) <= fileLimit, UInt64(new.bytes.count) <= appliedLimit,
      let capacity = Int(exactly: limit), capacity > 0
    else { return nil }
    let encoder = try ZstdEncoder(level: level)
    try encoder.refer(to: ByteView(old.bytes), outputLength: new.bytes.count)
    let buffer = MutableByteView.allocate(byteCount: capacity, alignment: 16)
    defer { buffer.deallocate() }
    let count = try encoder.pack(ByteView(new.bytes), to: buffer)
    return count.flatMap { $0 < capacity ? Array(buffer.prefix($0)) : nil }
  }
}
