import Foundation
import LodestoreBytes

/// The inflater of the system's zlib, whose results the fuzzer compares with.
///
/// Called by its symbols, as the fuzzers are built without the traits that have zlib's header.
struct Zlib {
  /// The decompressed text, up to a fault if there is one.
  struct Result {
    var text: [UInt8] = []
    /// The number of bytes read; `nil` where the bytes lack their end or are no DEFLATE.
    var count: Int?
  }

  private typealias Begin =
    @convention(c) (
      UnsafeMutableRawPointer, CInt, UnsafePointer<CChar>, CInt
    ) -> CInt
  private typealias Step = @convention(c) (UnsafeMutableRawPointer, CInt) -> CInt
  private typealias End = @convention(c) (UnsafeMutableRawPointer) -> CInt

  private let begin: Begin
  private let step: Step
  private let end: End

  /// Returns `nil` if zlib is not installed.
  init?() {
    guard
      let library = dlopen("libz.so.1", RTLD_NOW) ?? dlopen("libz.dylib", RTLD_NOW),
      let begin = dlsym(library, "inflateInit2_"), let step = dlsym(library, "inflate"),
      let end = dlsym(library, "inflateEnd")
    else { return nil }
    self.begin = unsafeBitCast(begin, to: Begin.self)
    self.step = unsafeBitCast(step, to: Step.self)
    self.end = unsafeBitCast(end, to: End.self)
  }

  /// Decompresses DEFLATE without a header, `limit` bytes of text at most.
  func inflate(_ bytes: [UInt8], limit: Int) -> Result {
    // `z_stream` of 64-bit systems: next_in at 0, avail_in at 8, next_out at 24, avail_out at 32.
    let size = 112
    let stream = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
    stream.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    let output = UnsafeMutableRawPointer.allocate(byteCount: limit, alignment: 1)
    defer {
      stream.deallocate()
      output.deallocate()
    }
    guard begin(stream, -15, "1.2.11", CInt(size)) == 0 else { return Result() }
    defer { _ = end(stream) }
    return bytes._withBytes { input in
      stream.storeBytes(of: input.baseAddress, as: UnsafeRawPointer?.self)
      stream.storeBytes(of: UInt32(input.count), toByteOffset: 8, as: UInt32.self)
      stream.storeBytes(of: output, toByteOffset: 24, as: UnsafeMutableRawPointer.self)
      stream.storeBytes(of: UInt32(limit), toByteOffset: 32, as: UInt32.self)
      let streamEnd: CInt = 1
      let code = step(stream, 0)
      let left = Int(stream.load(fromByteOffset: 8, as: UInt32.self))
      let room = Int(stream.load(fromByteOffset: 32, as: UInt32.self))
      return Result(
        text: Array(ByteView(start: output, count: limit - room)),
        count: code == streamEnd ? input.count - left : nil)
    }
  }
}
