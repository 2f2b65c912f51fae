package import LodestoreBytes

#if Datasets
  internal import CZstd
#endif

/// Decompresses single frames of a known length with libzstd.
///
/// A frame unpacked into memory in one call needs no window besides the output, whatever its header
/// states.
package final class ZstdDecoder {
  #if Datasets
    private let context: OpaquePointer

    package init() throws(DatasetError) {
      guard let context = ZSTD_createDCtx() else {
        throw DatasetError(
          .inputOutput, "cannot unpack: no memory for libzstd; close other programs")
      }
      self.context = context
    }

    deinit { ZSTD_freeDCtx(context) }

    /// Unpacks one frame, which must fill `output` exactly.
    ///
    /// - Returns: The reason for a failure; `nil` on success.
    package func unpack(_ frame: ByteView, to output: MutableByteView) -> String? {
      if let reason = Self.refusal(of: frame, length: UInt64(output.count)) { return reason }
      let count = ZSTD_decompressDCtx(
        context, output.baseAddress, output.count, frame.baseAddress, frame.count)
      guard ZSTD_isError(count) == 0 else { return Self.words(count) }
      return count == output.count ? nil : "it unpacks to \(count) bytes, expected \(output.count)"
    }

    /// Unpacks one frame that refers to older bytes, piece by piece.
    ///
    /// The decoder holds the frame's window: at most the next power of two above the length of the
    /// output.
    ///
    /// - Parameters:
    ///   - length: The number of bytes that the frame must unpack to.
    ///   - take: Called with each piece, in order.
    /// - Returns: The reason for a failure; `nil` on success.
    func unpack(
      _ frame: ByteView, length: UInt64, prefix: ByteView,
      _ take: (ByteView) throws(DatasetError) -> Void
    ) throws(DatasetError) -> String? {
      if let reason = Self.refusal(of: frame, length: length) { return reason }
      for result in [
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 31),
        ZSTD_DCtx_refPrefix(context, prefix.baseAddress, prefix.count),
      ] where ZSTD_isError(result) != 0 { return Self.words(result) }
      let piece = MutableByteView.allocate(byteCount: max(ZSTD_DStreamOutSize(), 1), alignment: 16)
      defer { piece.deallocate() }
      var input = ZSTD_inBuffer(src: frame.baseAddress, size: frame.count, pos: 0)
      var done: UInt64 = 0
      while true {
        var output = ZSTD_outBuffer(dst: piece.baseAddress, size: piece.count, pos: 0)
        let result = ZSTD_decompressStream(context, &output, &input)
        guard ZSTD_isError(result) == 0 else { return Self.words(result) }
        done += UInt64(output.pos)
        guard done <= length else { return "it unpacks to more than \(length) bytes" }
        try take(ByteView(piece.prefix(output.pos)))
        if result == 0 { break }
        guard output.pos > 0 || input.pos < input.size else { return "it ends within a block" }
      }
      return done == length ? nil : "it unpacks to \(done) bytes, expected \(length)"
    }

    /// The reason why bytes are not exactly one frame of a length; `nil` if they are.
    private static func refusal(of frame: ByteView, length: UInt64) -> String? {
      let content = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
      // libzstd returns one of the two largest numbers if the frame's header states no length or is
      // malformed.
      guard content == length else {
        return content > UInt64.max - 2
          ? "it is no zstd frame with a length"
          : "it unpacks to \(content) bytes, expected \(length)"
      }
      let count = ZSTD_findFrameCompressedSize(frame.baseAddress, frame.count)
      guard ZSTD_isError(count) == 0, count == frame.count else {
        return "it is not exactly one zstd frame"
      }
      return nil
    }

    private static func words(_ code: Int) -> String {
      "libzstd says '\(String(cString: ZSTD_getErrorName(code)))'"
    }
  #else
    package init() throws(DatasetError) { throw .notBuilt }

    package func unpack(_ frame: ByteView, to output: MutableByteView) -> String? {
      "libzstd is not there"
    }

    func unpack(
      _ frame: ByteView, length: UInt64, prefix: ByteView,
      _ take: (ByteView) throws(DatasetError) -> Void
    ) throws(DatasetError) -> String? { throw .notBuilt }
  #endif
}
