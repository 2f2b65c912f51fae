@testable import EntityStore

extension FuzzTarget {
  private static let zlib = Zlib()
  private static let longestText = 1 << 20

  /// Expects DEFLATE to give zlib's result, also for a refusal, in whatever pieces the input
  /// arrives.
  static let gzip = FuzzTarget("gzip", longestInput: 4_096) {
    // The seeds are a stored block, a block with fixed codes, and a block with dynamic codes, as
    // zlib writes them.
    [
      [1, 5, 0, 0xFA, 0xFF, 0x68, 0x65, 0x6C, 0x6C, 0x6F],
      [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27, 0x00],
      [
        0x05, 0xC1, 0xA1, 0x11, 0x00, 0x20, 0x08, 0x04, 0xC0, 0x3C, 0xC3, 0x78, 0x8D, 0x01, 0xD9,
        0x6E, 0xA2, 0xEB, 0x31, 0x1C, 0xBB, 0x93, 0xDC, 0x74, 0x6A, 0xCD, 0x4C, 0x2A, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xE4, 0x8D, 0x9B, 0x4E, 0xED, 0x37, 0x3E,
      ],
    ]
  } run: { bytes in
    let input = Array(bytes)
    let whole = inflate(input, piece: max(input.count, 1))
    let pieces = inflate(input, piece: 7)
    require(whole.count == pieces.count, "\(whole) and in pieces \(pieces)")
    require(whole.text == pieces.text, "another text in pieces")
    guard let zlib, whole.text.count < longestText else { return }
    let expected = zlib.inflate(input, limit: longestText)
    require(whole.count == expected.count, "\(whole), and by zlib \(expected)")
    // After a fault, one of the two decoders may have returned more text than the other, so only
    // the common part is compared.
    let shared = min(whole.text.count, expected.text.count)
    require(
      whole.text.prefix(shared) == expected.text.prefix(shared)
        && (whole.count == nil || whole.text.count == expected.text.count),
      "another text than zlib's")
  }

  /// Decompresses the input up to a fault; `count` is `nil` if there is a fault.
  private static func inflate(_ bytes: [UInt8], piece: Int) -> Zlib.Result {
    var inflate = Inflate()
    var result = Zlib.Result()
    var input: [UInt8] = []
    var at = 0
    var end = 0
    do throws(Inflate.Fault) {
      while result.text.count < longestText {
        let isFinished = end == bytes.count
        let (text, isAtEnd) = try inflate.next(input, &at, isFinished: isFinished)
        result.text += text
        if isAtEnd {
          result.count = end - (input.count - at)
          return result
        }
        guard text.isEmpty else { continue }
        if isFinished { return result }
        input.removeSubrange(..<at)
        at = 0
        let next = min(end + piece, bytes.count)
        input += bytes[end..<next]
        end = next
      }
    } catch {}
    return result
  }
}
