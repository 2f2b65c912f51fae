/// Limits of one JSON text.
package struct JSONLimits: Sendable, Hashable {
  /// The maximum nesting of arrays and objects; at most 512, because writing and decoding are
  /// recursive.
  package var depth: Int
  /// The maximum number of bytes of one text, or of one line of JSON Lines; at most 2,147,483,647.
  package var bytes: Int
  /// The maximum number of values and keys of one text; at most 67,108,863.
  ///
  /// Each takes 16 bytes while the text is read.
  package var values: Int
  /// Whether parsing continues after a faulty value whose end can be found.
  ///
  /// The fault is then noted and not thrown.
  ///
  /// ``JSONNode/fault`` returns the fault. Numbers of any size are then preserved as digits and are
  /// not faults; see ``JSONNode/wideNumber``.
  package var notesFaults = false

  /// Creates limits.
  ///
  /// With the defaults, memory use stays below the text's size plus 64 MiB.
  package init(depth: Int = 128, bytes: Int = 64 << 20, values: Int = 1 << 22) {
    self.depth = min(max(depth, 0), 512)
    self.bytes = min(max(bytes, 0), Int(Int32.max))
    self.values = min(max(values, 0), 1 << 26 - 1)
  }

  package static let standard = JSONLimits()

  /// A copy of these limits with noted faults, for pages where one record may be wrong and the
  /// others right.
  package var ofRecords: JSONLimits {
    var limits = self
    limits.notesFaults = true
    return limits
  }
}
