internal import LodestoreFormat

/// The names of a published dataset's files, and the bounds of its numbers.
///
/// Layout of the folder, all paths relative to it:
///
///     manifest.json        the one file that changes
///     keys/1.json          the chain of key sets
///     g/…                  whole generations: NAME.lodestore.zst and NAME.verity
///     d/…                  patches
package enum PublishedNames {
  /// The largest number in a signed file.
  ///
  /// A double holds every integer up to it exactly.
  static let numberLimit: UInt64 = 1 << 53 - 1
  /// The maximum size of a generation's file in bytes.
  static let lengthLimit: UInt64 = 1 << 40
  /// The maximum length of a name in bytes.
  static let byteLimit = 128

  package static let manifest = "manifest.json"
  package static let keys = "keys"
  package static let generations = "g"
  package static let patches = "d"

  package static func keySet(_ number: Int) -> String { "\(keys)/\(number).json" }

  /// Returns whether a name can only refer to a file in its own folder.
  ///
  /// A name has ASCII letters, digits, `-`, `_` and `.`, and begins with a letter or a digit. Such
  /// a name has no `/`, is not `..`, and is not hidden.
  package static func isFileName(_ name: String) -> Bool {
    name.utf8.count <= byteLimit && SealDescription.isFileName(name)
  }

  /// Returns whether a text may be the name of a dataset: a file name of at most 64 bytes.
  package static func isDatasetName(_ name: String) -> Bool {
    SealDescription.isValidName(name)
  }
}
