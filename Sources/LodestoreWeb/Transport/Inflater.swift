#if Web && !canImport(Darwin)
  internal import CZlib
  internal import Foundation

  /// A compressed body that is invalid or incomplete.
  struct DamagedBody: Error, CustomStringConvertible {
    let description: String
  }

  /// Decompresses a body piece by piece.
  ///
  /// An inflater uses 64 KiB and zlib's memory, whatever the size of the output. Use it from one
  /// task at a time.
  final class Inflater {
    /// The container format of a compressed body.
    private enum Wrapping {
      case gzip
      /// By the standard a zlib stream, in practice sometimes raw deflate. The first two bytes of
      /// the body show which of the two it is.
      case deflate
    }

    private static let pieceLength = 64 << 10

    private let wrapping: Wrapping
    /// The maximum number of compressed bytes.
    ///
    /// An allowed output never needs more compressed bytes, so longer input is refused.
    private let inputLimit: Int
    /// zlib stores this address, so it must not change.
    private let stream: UnsafeMutablePointer<z_stream>
    private let piece: UnsafeMutableRawBufferPointer
    private var isOpen = false
    private var isAtEnd = false
    private var inputCount = 0
    /// The first bytes, collected until they determine the format.
    private var first: [UInt8] = []

    /// Returns the inflater for a content coding; `nil` for no coding.
    ///
    /// - Throws: ``TransferFailure/coding(_:)`` for a coding other than gzip and deflate, and for
    ///   several codings.
    static func coding(_ field: String, byteLimit: Int) throws(TransferFailure) -> Inflater? {
      switch field.filter({ $0 != " " && $0 != "\t" }).lowercased() {
      case "", "identity": return nil
      case "gzip", "x-gzip": return Inflater(.gzip, byteLimit)
      case "deflate": return Inflater(.deflate, byteLimit)
      default: throw .coding(field)
      }
    }

    private init(_ wrapping: Wrapping, _ byteLimit: Int) {
      self.wrapping = wrapping
      let (limit, isHuge) = max(byteLimit, 0)
        .addingReportingOverflow(max(byteLimit, 0) / 64 + Self.pieceLength)
      inputLimit = isHuge ? .max : limit
      stream = .allocate(capacity: 1)
      stream.initialize(to: z_stream())
      piece = .allocate(byteCount: Self.pieceLength, alignment: 16)
    }

    deinit {
      if isOpen { inflateEnd(stream) }
      stream.deallocate()
      piece.deallocate()
    }

    /// Passes decompressed bytes to `take` until it returns false; returns false in that case.
    func inflate(_ bytes: UnsafeRawBufferPointer, _ take: (Data) -> Bool) throws -> Bool {
      inputCount += bytes.count
      guard inputCount <= inputLimit else { throw TransferFailure.tooLarge }
      guard !isOpen else { return try run(bytes, take) }
      first += bytes
      guard first.count >= 2 else { return true }
      try open()
      return try first.withUnsafeBytes { try run($0, take) }
    }

    /// Ends the decompression; throws if the body is incomplete.
    func finish() throws {
      guard isAtEnd else { throw DamagedBody(description: "the compressed bytes break off") }
    }

    private func open() throws {
      let hasHeader = first[0] & 0x0F == 8 && (Int(first[0]) << 8 + Int(first[1])) % 31 == 0
      let bits: Int32 =
        switch wrapping {
        case .gzip: 15 + 16
        case .deflate: hasHeader ? 15 : -15
        }
      try check(inflateInit2_(stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)))
      isOpen = true
    }

    private func run(_ bytes: UnsafeRawBufferPointer, _ take: (Data) -> Bool) throws -> Bool {
      let input = bytes.bindMemory(to: UInt8.self)
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.pointee.avail_in = UInt32(input.count)
      defer {
        stream.pointee.next_in = nil
        stream.pointee.avail_in = 0
      }
      var isFull = false
      while stream.pointee.avail_in > 0 || isFull {
        if isAtEnd { try beginMember() }
        stream.pointee.next_out = piece.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(piece.count)
        let status = CZlib.inflate(stream, Z_NO_FLUSH)
        // This status is not an error: zlib can make no progress, because all input is consumed and
        // all output was passed on.
        if status == Z_BUF_ERROR { return true }
        isAtEnd = status == Z_STREAM_END
        if !isAtEnd { try check(status) }
        isFull = stream.pointee.avail_out == 0 && !isAtEnd
        let count = piece.count - Int(stream.pointee.avail_out)
        if count > 0, !take(Data(piece[..<count])) { return false }
      }
      return true
    }

    /// Prepares for a further gzip member, which may follow: RFC 1952, 2.2.
    private func beginMember() throws {
      guard wrapping == .gzip else {
        throw DamagedBody(description: "bytes follow the compressed ones")
      }
      try check(inflateReset(stream))
      isAtEnd = false
    }

    private func check(_ status: Int32) throws {
      guard status != Z_OK else { return }
      let words = stream.pointee.msg.map { String(cString: $0) } ?? "status \(status)"
      throw DamagedBody(description: "zlib finds '\(words)'")
    }
  }
#endif
