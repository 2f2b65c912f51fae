#if Web && !canImport(Darwin)
  internal import CZlib
  internal import Foundation

  /// A compressed body that is none, or not all of one.
  struct DamagedBody: Error, CustomStringConvertible {
    let description: String
  }

  /// Inflates a body piece by piece, in memory of 64 KiB and what zlib needs, however much comes out.
  ///
  /// Not for several tasks.
  final class Inflater {
    /// What a body is wrapped in.
    private enum Wrapping {
      case gzip
      /// By name zlib's, by custom also none: the first two bytes tell.
      case deflate
    }

    private static let pieceLength = 64 << 10

    private let wrapping: Wrapping
    /// The most compressed bytes: more cannot be needed for as many as may come out.
    private let inputLimit: Int
    /// zlib keeps its address.
    private let stream: UnsafeMutablePointer<z_stream>
    private let piece: UnsafeMutableRawBufferPointer
    private var isOpen = false
    private var isAtEnd = false
    private var inputCount = 0
    /// The first bytes, until they tell the wrapping.
    private var first: [UInt8] = []

    /// What takes a coding off; nil for none.
    ///
    /// - Throws: ``TransferFailure/coding(_:)`` for another coding than gzip and deflate, and for several.
    static func coding(
      _ field: String, byteLimit: Int
    ) throws(TransferFailure) -> Inflater? {
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

    /// Gives what comes out of bytes to `take`, until that returns false; then false.
    func inflate(_ bytes: UnsafeRawBufferPointer, _ take: (Data) -> Bool) throws -> Bool {
      inputCount += bytes.count
      guard inputCount <= inputLimit else { throw TransferFailure.tooLarge }
      guard !isOpen else { return try run(bytes, take) }
      first += bytes
      guard first.count >= 2 else { return true }
      try open()
      return try first.withUnsafeBytes { try run($0, take) }
    }

    /// Ends the body.
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
        // No progress is possible: all input is taken, all output was given.
        if status == Z_BUF_ERROR { return true }
        isAtEnd = status == Z_STREAM_END
        if !isAtEnd { try check(status) }
        isFull = stream.pointee.avail_out == 0 && !isAtEnd
        let count = piece.count - Int(stream.pointee.avail_out)
        if count > 0, !take(Data(piece[..<count])) { return false }
      }
      return true
    }

    /// Another member may follow: RFC 1952, 2.2.
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
