public import Foundation

/// The verified content of `manifest.json`: the newest generation of a published dataset, and its
/// files.
///
/// A value exists only after a trusted key's signature was verified. Every number, name and length
/// is within the bounds of Format.md, "Published datasets".
public struct DatasetManifest: Sendable, Hashable {
  /// The dataset's name.
  public let name: String
  /// The number of the generation.
  ///
  /// The number rises with each publication and is never reused.
  public let generation: UInt64
  /// The date up to which the data is complete, according to its source.
  public let dataAsOf: Date
  /// The date when the file was sealed.
  public let builtAt: Date
  /// The date when the publisher signed this manifest.
  public let publishedAt: Date
  /// The number of the key set that signed the manifest.
  public let keySet: Int
  /// The sealed file's length in bytes.
  public let length: UInt64
  /// The sealed file's fs-verity digest: SHA-256, blocks of 4,096 bytes, no salt.
  public let digest: FileDigest
  /// The digest of the content in hexadecimal.
  ///
  /// Files with equal records have equal digests, whatever their layout.
  public let contentDigest: String
  /// The fingerprint of the schema in hexadecimal.
  public let schemaFingerprint: String
  /// The lowest version of the format (Format.md) that a program must know to read the file.
  public let formatVersion: Int
  /// The number of records of each entity.
  public let records: [String: Int]
  /// The whole generation, compressed.
  public let whole: WholeFile
  /// The patches that make this generation from an older one, one for each starting generation.
  public let patches: [PatchFile]
  /// Addresses of other servers with the same folder, in the publisher's order.
  public let mirrors: [String]

  /// The compressed generation: `g/NAME.lodestore.zst`, and the table of its frames.
  public struct WholeFile: Sendable, Hashable {
    /// The file's name within the folder `g`.
    public let name: String
    /// The compressed length in bytes.
    public let length: UInt64
    /// The SHA-256 of the compressed bytes.
    public let sha256: FileDigest
    /// The table of frames, with lengths and digests.
    ///
    /// The table's file is in the folder `g`, too.
    public let frames: FrameFile
  }

  /// The file with the lengths and digests of the frames: `g/NAME.verity`.
  public struct FrameFile: Sendable, Hashable {
    /// The file's name within the folder `g`.
    public let name: String
    /// The length in bytes.
    public let length: UInt64
    /// The SHA-256 of the bytes.
    public let sha256: FileDigest
  }

  /// A patch in the format of `zstd --patch-from`: a file of the folder `d`.
  public struct PatchFile: Sendable, Hashable {
    /// The generation that the patch starts from.
    public let from: UInt64
    /// The fs-verity digest of the sealed file of that generation.
    public let fromDigest: FileDigest
    /// The length of that sealed file in bytes.
    public let fromLength: UInt64
    /// The file's name within the folder `d`.
    public let name: String
    /// The length of the patch in bytes.
    public let length: UInt64
    /// The SHA-256 of the patch.
    public let sha256: FileDigest

    /// The path of the patch, relative to the dataset's folder.
    public var path: String { "\(PublishedNames.patches)/\(name)" }
  }
}

extension DatasetManifest.WholeFile {
  /// The path of the compressed file, relative to the dataset's folder.
  public var path: String { "\(PublishedNames.generations)/\(name)" }
}

extension DatasetManifest.FrameFile {
  /// The path of the table, relative to the dataset's folder.
  public var path: String { "\(PublishedNames.generations)/\(name)" }
}

extension DatasetManifest {
  /// Returns the patch that starts from a file; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - generation: The generation of the existing file.
  ///   - digest: The file's fs-verity digest, so that a patch is never applied to another file with
  ///     that number.
  public func patch(from generation: UInt64, digest: FileDigest) -> PatchFile? {
    patches.first { $0.from == generation && $0.fromDigest == digest }
  }
}
