internal import LodestoreBytes
internal import LodestorePages
import LodestoreSystem

/// A whole generation in a published folder: the compressed file, and the table of its frames.
///
/// The table alone determines the file's length and its fs-verity digest, so generations can be
/// unpacked even if their manifests no longer exist.
struct PublishedGeneration: Sendable {
  let generation: UInt64
  let whole: String
  let table: FrameTable
  let digest: FileDigest

  /// The generations of a folder with both files, newest first.
  static func all(in folder: String) throws(DatasetError) -> [PublishedGeneration] {
    let files = try GenerationFile.all(in: folder)
    let paths = Set(files.map(\.path))
    var found: [PublishedGeneration] = []
    for file in files where file.kind == .frames {
      let whole = file.path.dropLast(".verity".count) + ".lodestore.zst"
      guard paths.contains(String(whole)),
        let table = try? FrameTable(file: "\(folder)/\(file.path)"), let digest = table.fileDigest
      else { continue }
      found.append(
        PublishedGeneration(
          generation: file.generation, whole: "\(folder)/\(whole)", table: table, digest: digest))
    }
    return found.sorted { $0.generation > $1.generation }
  }

  /// Unpacks the generation into an open file and checks each frame.
  func unpack(to descriptor: Int32, at output: String) throws(DatasetError) {
    let compressed = try MappedBytes(reading: whole)
    let unpacker = try FrameUnpacker(table, to: descriptor, path: output)
    try unpacker.take(ByteView(compressed.bytes))
    try unpacker.finish()
  }
}

extension FrameTable {
  /// The maximum size of a table: that for the largest file.
  private static let byteLimit = Int(byteCount(of: PublishedNames.lengthLimit))

  /// Reads the table in a file and trusts its digests.
  init(file path: String) throws(DatasetError) {
    guard let bytes = try PublishedFolder.contents(of: path, atMost: Self.byteLimit) else {
      throw .system(ENOENT, "read", path)
    }
    self = try bytes._withBytes { (bytes) throws(DatasetError) in
      try FrameTable(reading: bytes, named: path)
    }
  }
}
