#if Web && !canImport(Darwin)
  internal import AsyncHTTPClient
  internal import LodestoreSystem
  internal import NIOCore

  /// The content of a file or of a part, which is read while a request sends it.
  struct UploadedFile: AsyncSequence, Sendable {
    private static let pieceSize = 256 << 10

    let path: String
    /// The offset in the file of the first byte to send.
    var offset = 0
    let count: Int
    let transfer: WebTransfer

    /// The body of a request, as the client takes it.
    static func body(
      of upload: WebRequests.Body, for transfer: WebTransfer
    ) -> HTTPClientRequest.Body? {
      switch upload {
      case .none: nil
      case .bytes(let bytes): .bytes(ByteBuffer(bytes: bytes))
      case .file(let path, let count):
        .stream(
          UploadedFile(path: path, count: count, transfer: transfer), length: .known(Int64(count)))
      case .part(let path, let offset, let count):
        .stream(
          UploadedFile(path: path, offset: offset, count: count, transfer: transfer),
          length: .known(Int64(count)))
      }
    }

    func makeAsyncIterator() -> Iterator { Iterator(file: self) }

    /// Reads one piece after another.
    ///
    /// The file closes with the iterator.
    final class Iterator: AsyncIteratorProtocol {
      private let file: UploadedFile
      private var descriptor: Int32 = -1
      private var sent = 0

      init(file: UploadedFile) { self.file = file }

      deinit { if descriptor >= 0 { close(descriptor) } }

      /// The error of a file that cannot be read, or is too short.
      struct Failure: Error {
        var code: Int32
      }

      func next() async throws -> ByteBuffer? {
        file.transfer.noteActivity()
        guard sent < file.count else { return nil }
        if descriptor < 0 { descriptor = open(file.path, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw Failure(code: errno) }
        var buffer = ByteBuffer()
        let wanted = Swift.min(UploadedFile.pieceSize, file.count - sent)
        var got = -1
        repeat {
          got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { bytes in
            Swift.max(pread(descriptor, bytes.baseAddress, wanted, off_t(file.offset + sent)), 0)
          }
        } while got == 0 && errno == EINTR
        guard got > 0 else { throw Failure(code: EIO) }
        sent += got
        return buffer
      }
    }
  }
#endif
