/// Unicode scalars that can change how other text is shown.
package enum UnsafeScalar {
  /// Returns whether the scalar can move a terminal's cursor, start a terminal command, or reorder
  /// the line.
  package static func matches(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F: true
    case 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
