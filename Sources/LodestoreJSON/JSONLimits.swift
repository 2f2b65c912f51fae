/// Limits of one JSON text.
package struct JSONLimits: Sendable, Hashable {
  /// Levels of arrays and objects; at most 512, because writing and decoding are recursive.
  package var depth: Int
  /// Bytes of one text (of one line for JSON Lines); at most 2,147,483,647.
  package var bytes: Int
  /// Values and keys of one text; at most 67,108,863.
  ///
  /// Each takes 16 bytes while the text is read.
  package var values: Int
  /// Whether a fault of one value is noted rather than thrown, where the value's end is known.
  ///
  /// ``JSONNode/fault`` gives the fault. Numbers of any size are then kept by their digits and are
  /// no fault; see ``JSONNode/wideNumber``.
  package var notesFaults = false

  /// The defaults hold memory below the size of the text plus 64 MiB.
  package init(depth: Int = 128, bytes: Int = 64 << 20, values: Int = 1 << 22) {
    self.depth = min(max(depth, 0), 512)
    self.bytes = min(max(bytes, 0), Int(Int32.max))
    self.values = min(max(values, 0), 1 << 26 - 1)
  }

  package static let standard = JSONLimits()

  /// For pages of records, of which one may be wrong and the others right.
  package var ofRecords: JSONLimits {
    var limits = self
    limits.notesFaults = true
    return limits
  }
}
