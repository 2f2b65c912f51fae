/// A file of the folders `g` and `d`, described by its name: `42-HASH.lodestore.zst`,
/// `42-HASH.verity`, `41-42-HASH.zst`.
///
/// The hash is calculated from the file's bytes, so two files with one name have equal bytes.
struct GenerationFile: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case whole, frames
    case patch(from: UInt64)
  }

  /// The path within the dataset's folder.
  let path: String
  let kind: Kind
  /// The generation that the file produces.
  let generation: UInt64

  private static let wholeSuffix = ".lodestore.zst"
  private static let framesSuffix = ".verity"
  private static let patchSuffix = ".zst"

  static func wholeName(_ generation: UInt64, _ hash: [UInt8]) -> String {
    stem(generation, hash) + wholeSuffix
  }

  static func framesName(_ generation: UInt64, _ hash: [UInt8]) -> String {
    stem(generation, hash) + framesSuffix
  }

  static func patchName(from: UInt64, to generation: UInt64, _ hash: [UInt8]) -> String {
    "\(from)-" + stem(generation, hash) + patchSuffix
  }

  /// Returns the name without extension: the generation and sixteen bytes of the hash.
  ///
  /// Sixteen bytes of a SHA-256 are enough to prevent two files with one name.
  private static func stem(_ generation: UInt64, _ hash: [UInt8]) -> String {
    "\(generation)-" + HexText.encoded(hash.prefix(16))
  }

  /// Parses a name in the folder `part`; `nil` for other files.
  init?(_ name: String, in part: String) {
    path = "\(part)/\(name)"
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard let first = parts.first.flatMap({ Self.number($0) }) else { return nil }
    if part == PublishedNames.generations, parts.count == 2 {
      generation = first
      if parts[1].hasSuffix(Self.wholeSuffix) {
        kind = .whole
      } else if parts[1].hasSuffix(Self.framesSuffix) {
        kind = .frames
      } else {
        return nil
      }
    } else if part == PublishedNames.patches, parts.count == 3,
      parts[2].hasSuffix(Self.patchSuffix),
      let second = Self.number(parts[1])
    {
      generation = second
      kind = .patch(from: first)
    } else {
      return nil
    }
  }

  private static func number(_ text: Substring) -> UInt64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
  }

  /// All files of generations and patches in a folder.
  static func all(in folder: String) throws(DatasetError) -> [GenerationFile] {
    var files: [GenerationFile] = []
    for part in [PublishedNames.generations, PublishedNames.patches] {
      files += try PublishedFolder.names(in: "\(folder)/\(part)").compactMap {
        GenerationFile($0, in: part)
      }
    }
    return files
  }

  /// The time when the file was last written, in seconds since 1970; `nil` if it does not exist.
  func changed(in folder: String) -> Double? {
    SystemFile.stamp(of: "\(folder)/\(path)").map { Double($0.seconds) }
  }
}
