internal import LodestorePages

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Patches between generations: one zstd frame that refers to the older file, as `zstd --patch-from`
/// writes and reads it.
package enum DatasetPatch {
  /// The largest file that a patch starts from or leads to, in bytes: zstd's window reaches no further.
  static let fileLimit: UInt64 = 1 << 31

  /// Makes a generation of an older one.
  ///
  /// The output is byte-exact, and checked against the manifest's digest before the call returns. Memory:
  /// the three files are mapped, so the system may take their pages back.
  ///
  /// - Parameters:
  ///   - patch: the path of the patch, which the caller has fetched.
  ///   - old: the path of the sealed file that the patch starts from.
  ///   - descriptor: an empty file, open for reading and writing. The caller syncs it to the disk.
  ///   - output: its path, for messages.
  /// - Throws: `DatasetError` with the code `damaged` when the patch does not have its signed digest or
  ///   does not lead to the signed file; the content of the output means nothing then.
  package static func apply(
    _ patch: String, to old: String, into descriptor: Int32, at output: String,
    as entry: DatasetManifest.PatchFile, of manifest: DatasetManifest
  ) throws(DatasetError) {
    let patchBytes = try MappedBytes(reading: patch)
    guard UInt64(patchBytes.bytes.count) == entry.length else {
      throw .damagedPatch(
        entry.name, because: "it has \(patchBytes.bytes.count) bytes, expected \(entry.length)")
    }
    guard SHA256Digest.digest(of: UnsafeRawBufferPointer(patchBytes.bytes)) == entry.sha256.bytes
    else { throw .damagedPatch(entry.name, because: "its SHA-256 is not the signed one") }
    guard manifest.length <= fileLimit, entry.fromLength <= fileLimit else {
      throw .damagedPatch(entry.name, because: "its files are larger than a patch can reach")
    }
    let oldBytes = try MappedBytes(reading: old)
    guard UInt64(oldBytes.bytes.count) == entry.fromLength else {
      throw .damagedPatch(
        entry.name,
        because: "the older file has \(oldBytes.bytes.count) bytes, expected \(entry.fromLength)")
    }
    try reserve(manifest.length, in: descriptor, path: output)
    let newBytes = try MappedBytes(writing: descriptor, length: manifest.length, path: output)
    let reason = try ZstdDecoder().unpack(
      UnsafeRawBufferPointer(patchBytes.bytes), to: newBytes.bytes,
      prefix: UnsafeRawBufferPointer(oldBytes.bytes))
    if let reason { throw .damagedPatch(entry.name, because: reason) }
    var tree = VerityTree()
    tree.update(UnsafeRawBufferPointer(newBytes.bytes))
    tree.finish()
    guard tree.digest == manifest.digest.bytes else {
      throw .damagedPatch(entry.name, because: "what it makes does not have the signed digest")
    }
  }

  /// Takes the room of a file on the disk, because a write to a map without room ends the process.
  private static func reserve(
    _ length: UInt64, in descriptor: Int32, path: String
  ) throws(DatasetError) {
    try FileBytes.cut(descriptor, to: 0, path: path)
    #if os(Linux)
      while true {
        let code = posix_fallocate(descriptor, 0, off_t(length))
        if code == 0 { return }
        if code == EINTR { continue }
        guard code == EINVAL || code == EOPNOTSUPP else { throw .system(code, "write", path) }
        break
      }
    #endif
    // Written zeros take room on every file system.
    let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
    defer { zeros.deallocate() }
    zeros.initializeMemory(as: UInt8.self, repeating: 0)
    var offset: UInt64 = 0
    while offset < length {
      let count = Int(min(length - offset, UInt64(zeros.count)))
      try FileBytes.write(
        UnsafeRawBufferPointer(rebasing: zeros.prefix(count)), to: descriptor, at: offset,
        path: path)
      offset += UInt64(count)
    }
  }
}

// MARK: - Making

extension DatasetPatch {
  /// Makes the patch from an older file to a newer one, unless it would be as large as `limit`.
  ///
  /// - Returns: the bytes of the patch; `nil` when it would not be smaller than `limit`, or when a file is
  ///   larger than zstd's window reaches.
  static func make(
    from old: MappedBytes, to new: MappedBytes, level: Int, smallerThan limit: UInt64
  ) throws(DatasetError) -> [UInt8]? {
    guard UInt64(old.bytes.count) <= fileLimit, UInt64(new.bytes.count) <= fileLimit,
      let capacity = Int(exactly: limit), capacity > 0
    else { return nil }
    let encoder = try ZstdEncoder(level: level)
    try encoder.refer(to: UnsafeRawBufferPointer(old.bytes), outputLength: new.bytes.count)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    defer { buffer.deallocate() }
    let count = try encoder.pack(UnsafeRawBufferPointer(new.bytes), to: buffer)
    return count.flatMap { $0 < capacity ? Array(buffer.prefix($0)) : nil }
  }
}
