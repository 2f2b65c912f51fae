internal import LodestoreBytes
internal import LodestorePages
import LodestoreSystem

/// The check of a published folder: its signatures, and every file that the manifest names.
///
/// Lengths and SHA-256 digests are compared, and every frame is unpacked. A patch is applied if the
/// generation that it starts from is in the folder.
package struct PublishedCheck: Sendable {
  /// One file that was checked.
  package struct File: Sendable, Hashable {
    /// The path within the folder.
    package let path: String
    /// The length in bytes according to the manifest.
    package let length: UInt64
    /// The reason why readers would refuse the file; `nil` for a good one.
    package let problem: String?
    /// A remark on a part of the file that could not be checked; `nil` for a complete check.
    package let note: String?
  }

  package let manifest: DatasetManifest
  /// The key set that signed the manifest.
  package let trustedKeys: TrustedKeys
  /// Whether the caller's keys led to that set.
  ///
  /// Otherwise the folder's own first set was trusted.
  package let isTrusted: Bool
  /// The newest key set that no key of the previous set signed; `nil` if the chain is unbroken.
  ///
  /// Programs that carry an earlier set cannot follow the chain to this set.
  package let brokenAt: Int?
  package private(set) var files: [File] = []

  /// Whether no file has a problem.
  package var isSound: Bool { files.allSatisfy { $0.problem == nil } }

  /// Checks a folder.
  ///
  /// - Parameter keys: The keys that a program carries; `nil` to trust the folder's first set.
  /// - Throws: `DatasetError` if the manifest or the chain of keys is refused.
  package init(
    _ folder: String, trusting keys: TrustedKeys?, checksFiles: Bool = true
  ) throws(DatasetError) {
    guard
      let bytes = try PublishedFolder.contents(
        of: "\(folder)/\(PublishedNames.manifest)", atMost: SignedFile.manifest.byteLimit)
    else { throw .noManifest(folder) }
    let chain = try KeyChain(in: folder, name: nil)
    guard let newest = chain.newest else { throw .noKeys(folder) }
    let claimed = try DatasetManifest.claimedKeySet(in: bytes)
    trustedKeys = try Self.follow(chain, to: claimed, from: keys, in: folder, name: newest.name)
    isTrusted = keys != nil
    brokenAt = chain.links.prefix(claimed).last { !$0.isFollowing && $0.set.number > 1 }?.set.number
    manifest = try DatasetManifest(verifying: bytes, with: trustedKeys, name: newest.name)
    if checksFiles { try checkFiles(in: folder) }
  }

  /// Follows the chain as a program does.
  private static func follow(
    _ chain: KeyChain, to claimed: Int, from keys: TrustedKeys?, in folder: String, name: String
  ) throws(DatasetError) -> TrustedKeys {
    // If the caller names no keys, the chain is followed from the newest set that no earlier set
    // has signed, as new programs do.
    let first = chain.links.prefix(claimed).last { !$0.isFollowing }
    guard var trusted = keys ?? first.map({ TrustedKeys($0.set) }) else { throw .noKeys(folder) }
    while trusted.number < claimed {
      let file = "\(folder)/\(PublishedNames.keySet(trusted.number + 1))"
      guard let bytes = try PublishedFolder.contents(of: file, atMost: SignedFile.keySet.byteLimit)
      else { throw .system(ENOENT, "read", file) }
      trusted = try trusted.followed(by: bytes, dataset: name)
    }
    return trusted
  }

  // MARK: Files

  private mutating func checkFiles(in folder: String) throws(DatasetError) {
    let whole = manifest.whole
    check(whole.frames.path, whole.frames.length, whole.frames.sha256, in: folder) { _ in nil }
    let manifest = manifest
    check(whole.path, whole.length, whole.sha256, in: folder) { (bytes) throws(DatasetError) in
      let table = try Self.table(of: manifest, in: folder)
      let unpacker = try FrameUnpacker(table, to: nil, path: whole.path)
      try unpacker.take(ByteView(bytes.bytes))
      try unpacker.finish()
      return nil
    }
    let older = try PublishedGeneration.all(in: folder)
    for patch in manifest.patches {
      check(patch.path, patch.length, patch.sha256, in: folder) { (_) throws(DatasetError) in
        let start = older.first { $0.generation == patch.from && $0.digest == patch.fromDigest }
        guard let start else { return "not applied: generation \(patch.from) is not here" }
        try Self.apply(patch, to: start, of: manifest, in: folder)
        return nil
      }
    }
  }

  private mutating func check(
    _ path: String, _ length: UInt64, _ sha256: FileDigest, in folder: String,
    _ body: (MappedBytes) throws(DatasetError) -> String?
  ) {
    var (problem, note): (String?, String?)
    do throws(DatasetError) {
      let file = try MappedBytes(reading: "\(folder)/\(path)")
      if UInt64(file.bytes.count) != length {
        problem = "it has \(file.bytes.count) bytes, expected \(length)"
      } else if SHA256Digest.digest(of: ByteView(file.bytes)) != sha256.bytes {
        problem = "its SHA-256 is not the signed one"
      } else {
        note = try body(file)
      }
    } catch {
      problem = error.message
    }
    files.append(File(path: path, length: length, problem: problem, note: note))
  }

  private static func table(
    of manifest: DatasetManifest, in folder: String
  ) throws(DatasetError) -> FrameTable {
    let file = try MappedBytes(reading: "\(folder)/\(manifest.whole.frames.path)")
    return try FrameTable(reading: ByteView(file.bytes), of: manifest)
  }

  private static func apply(
    _ patch: DatasetManifest.PatchFile, to start: PublishedGeneration,
    of manifest: DatasetManifest, in folder: String
  ) throws(DatasetError) {
    let scratch = try ScratchFiles(count: 2)
    try start.unpack(to: scratch.descriptors[0], at: scratch.paths[0])
    try DatasetPatch.apply(
      "\(folder)/\(patch.path)", to: scratch.paths[0], into: scratch.descriptors[1],
      at: scratch.paths[1], as: patch, of: manifest)
  }
}

/// Empty files without a name, which are removed with the object and with a killed process.
private final class ScratchFiles {
  private(set) var paths: [String] = []
  private(set) var descriptors: [Int32] = []

  init(count: Int) throws(DatasetError) {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    for _ in 0..<count {
      let path = "\(folder)/lodestore-\(UInt64.random(in: .min ... .max))"
      let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw .system(errno, "make a file in", folder) }
      unlink(path)
      // A path under /dev/fd opens a descriptor of this process by its number.
      paths.append("/dev/fd/\(descriptor)")
      descriptors.append(descriptor)
    }
  }

  deinit {
    for descriptor in descriptors { close(descriptor) }
  }
}
