internal import Foundation
internal import LodestoreBytes
internal import LodestorePages
import LodestoreSystem

extension DatasetPublisher {
  /// The compressed generation as written.
  struct CompressedGeneration {
    let entry: DatasetManifest.WholeFile
    let table: FrameTable
    let digest: FileDigest
  }

  /// Writes the compressed file and its table, and unpacks the file again to check every frame.
  func writeCompressed(
    _ file: MappedBytes, _ generation: UInt64, in folder: PublishedFolder, path: String
  ) throws(DatasetError) -> CompressedGeneration {
    let part = PublishedNames.generations
    let (temporary, packed) = try folder.write(in: part) {
      (descriptor, output) throws(DatasetError) in
      let packed = try FramePacker.pack(
        file, to: descriptor, at: output, level: options.compressionLevel)
      let written = try MappedBytes(reading: output)
      let unpacker = try FrameUnpacker(packed.table, to: nil, path: output)
      do throws(DatasetError) {
        try unpacker.take(ByteView(written.bytes))
        try unpacker.finish()
      } catch {
        throw .changedFile(path)
      }
      return packed
    }
    let name = GenerationFile.wholeName(generation, packed.sha256)
    try folder.commit(temporary, as: "\(part)/\(name)")
    let table = packed.table.bytes
    let framesName = GenerationFile.framesName(generation, packed.sha256)
    try folder.write(table, in: part, as: framesName)
    guard let digest = packed.table.fileDigest, let sha256 = FileDigest(bytes: packed.sha256),
      let tableSHA256 = FileDigest(bytes: table._withBytes { SHA256Digest.digest(of: $0) })
    else { throw .notSealed(path, because: "it is too small to be a store") }
    return CompressedGeneration(
      entry: DatasetManifest.WholeFile(
        name: name, length: packed.table.compressedLength, sha256: sha256,
        frames: DatasetManifest.FrameFile(
          name: framesName, length: UInt64(table.count), sha256: tableSHA256)),
      table: packed.table, digest: digest)
  }

  /// Writes a patch from each of the newest older generations in the folder, if the patch is
  /// smaller than the whole file.
  func writePatches(
    _ file: MappedBytes, to generation: UInt64, in folder: PublishedFolder,
    smallerThan limit: UInt64
  ) throws(DatasetError) -> (written: [DatasetManifest.PatchFile], skipped: [SkippedPatch]) {
    var written: [DatasetManifest.PatchFile] = []
    var skipped: [SkippedPatch] = []
    let older = try PublishedGeneration.all(in: folder.path).filter { $0.generation < generation }
    for old in older.prefix(min(max(options.patchCount, 0), DatasetManifest.patchLimit)) {
      do throws(DatasetError) {
        if let patch = try writePatch(
          file, from: old, to: generation, in: folder, smallerThan: limit)
        {
          written.append(patch)
        } else {
          skipped.append(
            SkippedPatch(
              from: old.generation, reason: "it would not be smaller than the whole generation"))
        }
      } catch  where error.code == .damaged {
        // If the file of an older generation is damaged, the patch from this generation is left
        // out, and the publication continues.
        skipped.append(SkippedPatch(from: old.generation, reason: error.message))
      }
    }
    return (written, skipped)
  }

  private func writePatch(
    _ file: MappedBytes, from old: PublishedGeneration, to generation: UInt64,
    in folder: PublishedFolder, smallerThan limit: UInt64
  ) throws(DatasetError) -> DatasetManifest.PatchFile? {
    let (temporary, _) = try folder.write(in: PublishedNames.generations) {
      (descriptor, path) throws(DatasetError) in
      try old.unpack(to: descriptor, at: path)
    }
    defer { unlink(temporary) }
    let patch = try DatasetPatch.make(
      from: try MappedBytes(reading: temporary), to: file, level: options.compressionLevel,
      smallerThan: limit)
    guard let patch else { return nil }
    let hash = patch._withBytes { SHA256Digest.digest(of: $0) }
    guard let sha256 = FileDigest(bytes: hash) else { return nil }
    let name = GenerationFile.patchName(from: old.generation, to: generation, hash)
    try folder.write(patch, in: PublishedNames.patches, as: name)
    return DatasetManifest.PatchFile(
      from: old.generation, fromDigest: old.digest, fromLength: old.table.fileLength, name: name,
      length: UInt64(patch.count), sha256: sha256)
  }

  // MARK: Removing

  /// Removes the files of generations that no manifest has named.
  ///
  /// A killed publisher may have left them.
  static func removeUnpublished(
    in folder: PublishedFolder, above generation: UInt64
  ) throws(DatasetError) -> [String] {
    try GenerationFile.all(in: folder.path).filter { $0.generation > generation }
      .filter { unlink(folder.file($0.path)) == 0 }.map(\.path)
  }

  /// Removes the files of generations beyond the number to keep that were replaced longer ago than
  /// the time to keep.
  ///
  /// A file that cannot be removed stays until the next publication, because the manifest is
  /// already published.
  func removeOld(in folder: PublishedFolder, newest: DatasetManifest, now: Date) -> [String] {
    guard let files = try? GenerationFile.all(in: folder.path) else { return [] }
    let generations = Set(files.map(\.generation)).sorted(by: >)
    // The next publication makes patches from the generations that stay, so at least one stays.
    let kept = Set(generations.prefix(max(options.keptGenerations, 1)))
    let limit = now.timeIntervalSince1970 - Double(options.keptFor.components.seconds)
    var written: [UInt64: Double] = [:]
    for file in files {
      guard let changed = file.changed(in: folder.path) else { continue }
      written[file.generation] = max(written[file.generation] ?? changed, changed)
    }
    // A generation was replaced at the time when the file of the generation after it was written.
    let next = Dictionary(
      zip(generations.dropFirst(), generations), uniquingKeysWith: { first, _ in first })
    return files.filter { file in
      guard !kept.contains(file.generation),
        let replaced = next[file.generation].flatMap({ written[$0] })
      else { return false }
      return replaced < limit && unlink(folder.file(file.path)) == 0
    }.map(\.path)
  }
}
