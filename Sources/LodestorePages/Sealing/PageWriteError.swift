/// The reason why a file of pages cannot be written.
package enum PageWriteError: Error, Equatable, Sendable {
  /// The keys of a tree do not ascend, because the source is damaged.
  case keyOrder(tree: String)
  /// A key is empty, longer than 511 bytes, or in a tree of integer keys not 8 bytes long.
  case keyLength(tree: String, byteCount: Int)
  /// A value has 4 GiB or more.
  case valueLength(tree: String, byteCount: Int)
  /// Two trees have this name.
  case treeTwice(String)
  /// Writing or reading failed with this `errno`.
  case system(code: Int32)
}
