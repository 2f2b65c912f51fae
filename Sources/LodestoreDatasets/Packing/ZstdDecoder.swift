#if Datasets
  internal import CZstd
#endif

/// libzstd's decompression of single frames, each in one call into memory of the known length.
///
/// One call needs no window besides the output, whatever a frame asks for, so the output bounds the memory.
final class ZstdDecoder {
  #if Datasets
    private let context: OpaquePointer

    init() throws(DatasetError) {
      guard let context = ZSTD_createDCtx() else {
        throw DatasetError(
          .inputOutput, "cannot unpack: no memory for libzstd; close other programs")
      }
      self.context = context
    }

    deinit { ZSTD_freeDCtx(context) }

    /// Unpacks one frame, which must fill `output` exactly.
    ///
    /// - Parameter prefix: the bytes that the frame refers to, of a patch.
    /// - Returns: the reason why it does not, or `nil`.
    func unpack(
      _ frame: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer,
      prefix: UnsafeRawBufferPointer? = nil
    ) -> String? {
      let content = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
      // The two largest numbers say that the header has no length or is malformed.
      guard content == UInt64(output.count) else {
        return content > UInt64.max - 2
          ? "it is no zstd frame with a length"
          : "it unpacks to \(content) bytes, expected \(output.count)"
      }
      let length = ZSTD_findFrameCompressedSize(frame.baseAddress, frame.count)
      guard ZSTD_isError(length) == 0, length == frame.count else {
        return "it is not exactly one zstd frame"
      }
      if let prefix {
        let result = ZSTD_DCtx_refPrefix(context, prefix.baseAddress, prefix.count)
        guard ZSTD_isError(result) == 0 else { return Self.words(result) }
      }
      let count = ZSTD_decompressDCtx(
        context, output.baseAddress, output.count, frame.baseAddress, frame.count)
      guard ZSTD_isError(count) == 0 else { return Self.words(count) }
      return count == output.count ? nil : "it unpacks to \(count) bytes, expected \(output.count)"
    }

    private static func words(_ code: Int) -> String {
      "libzstd says '\(String(cString: ZSTD_getErrorName(code)))'"
    }
  #else
    init() throws(DatasetError) { throw .notBuilt }

    func unpack(
      _ frame: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer,
      prefix: UnsafeRawBufferPointer? = nil
    ) -> String? { "libzstd is not there" }
  #endif
}
