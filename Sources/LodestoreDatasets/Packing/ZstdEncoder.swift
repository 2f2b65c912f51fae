package import LodestoreBytes

#if Datasets
  internal import CZstd
#endif

/// Compresses single frames with libzstd, each in one call, with the content's length in the
/// header.
package final class ZstdEncoder {
  #if Datasets
    private let context: OpaquePointer

    /// - Parameter level: The level, from 1, the fastest, to 19.
    package init(level: Int) throws(DatasetError) {
      guard let context = ZSTD_createCCtx() else { throw Self.noMemory }
      self.context = context
      try set(ZSTD_c_compressionLevel, Int32(min(max(level, 1), 19)))
      // The digest of each frame already detects errors, so libzstd's own checksum, which takes
      // four bytes, is left out.
      try set(ZSTD_c_checksumFlag, 0)
      try set(ZSTD_c_contentSizeFlag, 1)
    }

    deinit { ZSTD_freeCCtx(context) }

    /// Returns the maximum length of a frame of `count` bytes.
    package static func limit(of count: Int) -> Int { ZSTD_compressBound(count) }

    /// Makes the next frame refer to older bytes, as `zstd --patch-from` does.
    ///
    /// The window covers the whole output, so that a match can refer to every byte of the prefix.
    func refer(to prefix: ByteView, outputLength: Int) throws(DatasetError) {
      let length = max(prefix.count, outputLength, 1)
      let windowLog = min(max(Int.bitWidth - length.leadingZeroBitCount, 10), 31)
      try set(ZSTD_c_windowLog, Int32(windowLog))
      try set(ZSTD_c_enableLongDistanceMatching, 1)
      let code = ZSTD_CCtx_refPrefix(context, prefix.baseAddress, prefix.count)
      guard ZSTD_isError(code) == 0 else { throw Self.failure(code) }
    }

    /// Compresses bytes to one frame.
    ///
    /// - Returns: The length of the frame; `nil` if `output` is too small.
    package func pack(_ bytes: ByteView, to output: MutableByteView) throws(DatasetError) -> Int? {
      let count = ZSTD_compress2(
        context, output.baseAddress, output.count, bytes.baseAddress, bytes.count)
      guard ZSTD_isError(count) == 0 else {
        if ZSTD_getErrorCode(count) == ZSTD_error_dstSize_tooSmall { return nil }
        throw Self.failure(count)
      }
      return count
    }

    private func set(_ parameter: ZSTD_cParameter, _ value: Int32) throws(DatasetError) {
      let code = ZSTD_CCtx_setParameter(context, parameter, value)
      guard ZSTD_isError(code) == 0 else { throw Self.failure(code) }
    }

    private static func failure(_ code: Int) -> DatasetError {
      DatasetError(
        .inputOutput, "cannot compress: libzstd says '\(String(cString: ZSTD_getErrorName(code)))'")
    }

    private static var noMemory: DatasetError {
      DatasetError(.inputOutput, "cannot compress: no memory for libzstd; close other programs")
    }
  #else
    package init(level: Int) throws(DatasetError) { throw .notBuilt }

    package static func limit(of count: Int) -> Int { count }

    func refer(to prefix: ByteView, outputLength: Int) throws(DatasetError) { throw .notBuilt }

    package func pack(
      _ bytes: ByteView, to output: MutableByteView
    ) throws(DatasetError) -> Int? { throw .notBuilt }
  #endif
}
