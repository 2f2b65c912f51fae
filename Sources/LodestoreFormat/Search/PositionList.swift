import LodestoreBytes

/// The places of one term in one record, as bytes of a posting.
///
/// See Format.md, "Postings".
package enum PositionList {
  /// Calls `body` with each source and position of a posting.
  package static func forEach(
    _ bytes: ByteView, sourceCount: Int, _ body: (_ source: UInt32, _ position: UInt32) -> Void
  ) throws(FormatError) {
    var offset = 0
    func number() throws(FormatError) -> UInt64 {
      guard let number = VariableNumber.read(bytes, at: &offset) else {
        throw FormatError("positions end too early", .searchPostings)
      }
      return number
    }
    while offset < bytes.count {
      var source: UInt64 = 0
      var left = UInt64.max
      if sourceCount > 1 {
        let head = try number()
        source = head % UInt64(sourceCount)
        left = head / UInt64(sourceCount)
      }
      var position: UInt64?
      while left > 0, offset < bytes.count {
        let step = try number()
        let next = (position.map { $0 &+ 1 } ?? 0) &+ step
        body(UInt32(source), UInt32(clamping: next))
        position = next
        left -= 1
      }
    }
  }
}
