import Foundation

@testable import LodestoreWeb

/// The attacks of a hostile server on a client, by kind.
enum HostileKind: CaseIterable {
  case closed, reset, stalled
  case endlessField, endlessFields, endlessInterim, endlessReason
  case statusLine, lowStatus, length, encodings, controlBytes
  case chunks, trailer, endlessExtension
  case gzipBomb, deflateBomb, endlessGzip, cutGzip, brokenGzip, brokenDeflate, compressedNothing
  case slowHead, slowBody, endlessBody
  case redirects, links, types
  case secondAnswer, changedBytes, noise
}

/// One hostile answer; the same for the same seed and number.
struct HostileAnswer {
  static let page = Array(
    #"[{"name": "AFNetworking", "version": "4.0.1"}, {"name": "Alamofire"}]"#.utf8)
  /// The page in a good answer, and in one that is compressed.
  private static let good =
    head(["Content-Type: application/json", "Content-Length: \(page.count)"])
    + page
  private static let deflated = Answer.gzip(page)

  let kind: HostileKind
  let number: Int
  private var numbers: Numbers

  init(_ number: Int, seed: UInt64) {
    self.number = number
    kind = HostileKind.allCases[number % HostileKind.allCases.count]
    numbers = Numbers(state: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
  }

  /// Whether changed bytes can give another complete page that no checksum or length detects.
  var mayBeAnotherPage: Bool {
    switch kind {
    case .closed, .reset, .stalled, .cutGzip, .brokenGzip, .gzipBomb, .deflateBomb, .endlessGzip,
      .lowStatus, .endlessField, .endlessFields, .endlessInterim, .endlessReason, .trailer,
      .links, .types, .secondAnswer:
      false
    default: true
    }
  }

  private static func head(_ fields: [String], status: String = "200 OK") -> [UInt8] {
    Array((["HTTP/1.1 \(status)"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
  }

  private mutating func random(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &numbers)
  }

  private mutating func pick<T>(_ values: T...) -> T { values[random(0...values.count - 1)] }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
  }

  /// The hostile answer to a request.
  mutating func answer(to request: LoopbackServer.Request) -> Answer {
    switch kind {
    case .closed, .reset, .stalled: cut()
    case .endlessField, .endlessFields, .endlessInterim, .endlessReason: endlessHead()
    case .statusLine, .lowStatus, .length, .encodings, .controlBytes: oddHead()
    case .chunks, .trailer, .endlessExtension: oddChunks()
    case .gzipBomb, .deflateBomb, .endlessGzip: bomb()
    case .cutGzip, .brokenGzip, .brokenDeflate, .compressedNothing: brokenCompression()
    case .slowHead, .slowBody, .endlessBody: slow()
    case .redirects: redirect(request)
    case .links, .types: oddField()
    case .secondAnswer, .changedBytes, .noise: noise()
    }
  }
}

// MARK: - By kind

extension HostileAnswer {
  /// Returns the beginning of a good answer, cut at another place each time.
  private mutating func cut() -> Answer {
    let place = (number / HostileKind.allCases.count * 7) % Self.good.count
    let end: Answer.Step = kind == .closed ? .close : kind == .reset ? .reset : .waitForClient
    return Answer(steps: [.bytes(Array(Self.good[..<place])), end])
  }

  private mutating func endlessHead() -> Answer {
    let start = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n".utf8)
    let piece: [UInt8]
    switch kind {
    case .endlessField:
      piece = [UInt8](repeating: 0x61, count: random(1...70_000))
      return .endless(start + Array("X-A: ".utf8), piece)
    case .endlessFields:
      let name = String(repeating: "n", count: random(1...200))
      piece = Array("\(name): \(String(repeating: "v", count: random(0...200)))\r\n".utf8)
      return .endless(start, piece)
    case .endlessReason:
      piece = [UInt8](repeating: 0x61, count: random(1_000...70_000))
      return .endless(Array("HTTP/1.1 200 ".utf8), piece)
    default:
      piece = Self.head(
        ["Link: </\(random(0...9))>; rel=next"], status: "\(pick(100, 102, 103, 199)) Go on")
      return .endless([], piece)
    }
  }

  private mutating func oddHead() -> Answer {
    let size = "Content-Length: \(Self.page.count)"
    switch kind {
    case .lowStatus:
      let status = String(format: "%03d", random(0...99))
      return .closing(Self.head([size], status: "\(status) No") + Self.page)
    case .statusLine:
      let version = pick(
        "HTTP/1.1", "HTTP/0.9", "HTTP/2.0", "HTTP/1.", "HTTP", "ICY", "", "HTTP/9.9")
      let status = pick(
        "200", "20", "2000", "-1", "99999999999999999999", "2 0 0", "\u{0}", "1e2", "999")
      let end = pick("\r\n", "\n", "\r", "", "\r\r\n")
      return .closing(Array("\(version) \(status) OK\(end)\(size)\r\n\r\n".utf8) + Self.page)
    case .length:
      let near = Int64.max - Int64(random(0...300))
      let length = pick(
        "\(near)", "\(UInt64(near) + 300)", "\(UInt64.max - UInt64(random(0...300)))",
        "-\(random(1...9))",
        "+70", "0x46", "99999999999999999999999999", "7 0", "",
        "\(Self.page.count + random(1...999))",
        "\(Self.page.count)\r\nContent-Length: \(random(0...99))")
      return .closing(Self.head(["Content-Length: \(length)"]) + Self.page)
    case .encodings:
      let encoding = pick(
        "chunked, chunked", "gzip, chunked", "identity", "chunked\r\n\(size)", "\u{B}chunked", "x",
        "")
      return .closing(Self.head(["Transfer-Encoding: \(encoding)"]) + Self.page)
    default:
      let odd = bytes(random(1...40)).filter { $0 != 0x0A }
      return .closing(
        Array("HTTP/1.1 200 OK\r\n\(size)\r\n\(pick("X-A: ", "", "ETag: ", "Link: <"))".utf8)
          + odd + Array("\r\n\r\n".utf8) + Self.page)
    }
  }

  private mutating func oddChunks() -> Answer {
    let start = Self.head(["Transfer-Encoding: chunked", "Trailer: X-A"])
    let page = Array("\(String(Self.page.count, radix: 16))\r\n".utf8) + Self.page + [0x0D, 0x0A]
    switch kind {
    case .endlessExtension:
      return .endless(
        start + Array("5;x=".utf8), [UInt8](repeating: 0x61, count: random(1_000...70_000)))
    case .trailer:
      let name = pick("X-A", "Content-Length", "Transfer-Encoding", "", "A B", "Link")
      let trailer = Array("\(name): \(random(0...99_999))\r\n".utf8)
      if Bool.random(using: &numbers) {
        return .endless(start + page + Array("0\r\n".utf8), trailer)
      }
      return .closing(start + page + Array("0\r\n".utf8) + trailer + pick([0x0D, 0x0A], []))
    default:
      let size = pick(
        "zz", "FFFFFFFFFFFFFFFF", "7FFFFFFFFFFFFFFF", "8000000000000000", "-1", "", " 5", "5 5",
        "0x5", "5;\u{0}", "100000000000000000000", "5")
      let broken = Array("\(size)\(pick("\r\n", "\n", "\r"))[1,2]\(pick("\r\n", "", "]"))".utf8)
      return .closing(start + broken + Array("0\r\n\r\n".utf8))
    }
  }

  /// An answer that is small on the wire and has no end when it is inflated.
  private mutating func bomb() -> Answer {
    let coding = kind == .deflateBomb ? "deflate" : pick("gzip", "x-gzip")
    let start = Self.head(["Content-Encoding: \(coding)", "Content-Type: application/json"])
    switch kind {
    case .gzipBomb: return .endless(start + Answer.gzipHead + Answer.zerosStart, Answer.zeros)
    case .deflateBomb:
      return .endless(start + pick([0x78, 0x9C], []) + Answer.zerosStart, Answer.zeros)
    default:
      // The stream has a file name without an end, or an endless sequence of empty stored blocks.
      if Bool.random(using: &numbers) {
        return .endless(
          start + [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 255], [UInt8](repeating: 0x61, count: 50_000))
      }
      let empty = [[UInt8]](repeating: [0, 0, 0, 0xFF, 0xFF], count: 10_000).flatMap(\.self)
      return .endless(start + Answer.gzipHead, empty)
    }
  }

  private mutating func brokenCompression() -> Answer {
    let turn = number / HostileKind.allCases.count
    switch kind {
    case .cutGzip:
      let part = Array(Self.deflated[..<((turn * 5) % Self.deflated.count)])
      return .closing(
        Self.head(["Content-Encoding: gzip", "Content-Length: \(part.count)"]) + part)
    case .brokenGzip:
      var bytes = Self.deflated
      bytes[(turn * 5) % bytes.count] ^= UInt8(random(1...255))
      return .closing(
        Self.head(["Content-Encoding: gzip", "Content-Length: \(bytes.count)"]) + bytes)
    case .brokenDeflate:
      let bytes = pick([0x78, 0x9C], [0x78], [], [0x1F, 0x8B, 8]) + bytes(random(0...200))
      let coding = pick("deflate", "gzip", "br", "gzip, gzip", "zstd", "deflate, gzip", "\u{1}")
      return .closing(
        Self.head(["Content-Encoding: \(coding)", "Content-Length: \(bytes.count)"]) + bytes)
    default:
      let status = pick(
        "204 None", "304 Same", "205 Reset", "200 OK", "404 None", "500 No", "100 On")
      let body = pick([], Self.deflated, bytes(30))
      return .closing(
        Self.head(["Content-Encoding: gzip", pick("X: y", "Content-Length: 9")], status: status)
          + body)
    }
  }

  private mutating func slow() -> Answer {
    let milliseconds = random(5...60)
    switch kind {
    case .slowHead: return .slow(Self.good + Self.page, milliseconds)
    case .slowBody:
      let start = Self.head(pick(["Connection: close"], ["Content-Length: 1000000"]))
      let body = Answer.slow([UInt8](repeating: 0x20, count: 400), milliseconds)
      return Answer(steps: [.bytes(start)] + body.steps)
    default:
      let start = Self.head(
        pick(["Connection: close"], ["Content-Length: \(1 << 50)"], ["Transfer-Encoding: chunked"]),
        status: pick("200 OK", "500 No", "404 None"))
      return .endless(
        start, Array("400\r\n".utf8) + [UInt8](repeating: 0x20, count: 0x400) + [0x0D, 0x0A])
    }
  }

  private mutating func redirect(_ request: LoopbackServer.Request) -> Answer {
    let location = pick(
      request.target, "/case/\(number)?\(request.number)", "//", "http://", "http:///",
      "http://[::1", "//a b/",
      "http://a:99999999999/", "file:///etc/passwd", "ftp://127.0.0.1/", "data:,[]", "javascript:1",
      "http://127.0.0.1:1/", "http://[::1]:1/", "http://0.0.0.0:1/", "http://2130706433:1/",
      "http://\u{0}/",
      "http://xn--\(String(repeating: "a", count: 300))/", "http://%00/", "http://user:pass@/",
      String(repeating: "/a", count: random(1...30_000)), "\\\\127.0.0.1\\", "?", "#", "http:", ":",
      "http+unix://%2Ftmp/")
    return Answer(random(300...308), ["Location: \(location)"], body: [])
  }

  private mutating func oddField() -> Answer {
    guard kind == .links else {
      let type = pick(
        "application/json; charset=utf-16", "application/json; charset=\u{FF}", ";", "text/html",
        "application/json; charset=\"", String(repeating: "a/", count: 20_000), "*/*", "\u{0}")
      return .closing(
        Self.head(["Content-Type: \(type)", "Content-Length: \(Self.page.count)"]) + Self.page)
    }
    let link = pick(
      "<" + String(repeating: "a", count: random(1...70_000)) + ">; rel=next",
      String(repeating: "<a>; rel=x, ", count: random(1...5_000)) + "<b>; rel=next",
      "<b>" + String(repeating: "; a=\"\\", count: random(1...5_000)), "<//>; rel=next",
      "</case/\(number)>; rel=next", "<http://169.254.169.254/>; rel=next",
      "<http://a:b@c:d/>; rel=next",
      String(repeating: "<", count: 60_000), "<\u{0}>; rel=next", "<file:///>; rel=\"next\"")
    return .closing(Self.head(["Link: \(link)", "Content-Length: \(Self.page.count)"]) + Self.page)
  }

  private mutating func noise() -> Answer {
    switch kind {
    case .secondAnswer:
      return Answer(steps: [
        .bytes(Self.good + pick(Self.good, bytes(50), Self.head([], status: "408 Time")))
      ])
    case .changedBytes:
      var changed = Self.good
      for _ in 0...random(0...4) {
        changed[random(0...changed.count - 1)] = UInt8.random(in: 0...255, using: &numbers)
      }
      return .closing(changed)
    default:
      return .closing(pick([], Array("HTTP/1.1 ".utf8), Self.head([])) + bytes(random(0...3_000)))
    }
  }
}

extension Answer {
  /// A gzip member's first ten bytes.
  static let gzipHead: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
  /// The first 96 bits of a block of deflate with fixed codes (RFC 1951, 3.2.6).
  ///
  /// The data is a byte 0 and matches of length 258 at distance 1, each of 13 bits. ``zeros``
  /// continues the matches.
  static let zerosStart: [UInt8] = Array(BitText(literals: 1, matches: 8).bytes.prefix(12))
  /// Further matches, of which 13 bytes decompress to 2,064 bytes: 65,000 bytes become ten million.
  static let zeros: [UInt8] = {
    let cycle = Array(BitText(literals: 1, matches: 40).bytes[12..<25])
    return [[UInt8]](repeating: cycle, count: 5_000).flatMap(\.self)
  }()

  /// Sends `start`, then `piece` repeatedly up to some tens of megabytes, and then nothing more.
  static func endless(_ start: [UInt8], _ piece: [UInt8]) -> Answer {
    var block = piece
    while block.count < 8 << 10 { block += piece }
    let step = Step.bytes(block)
    return Answer(
      steps: [.bytes(start)] + [Step](repeating: step, count: (32 << 20) / block.count)
        + [.waitForClient])
  }

  /// Sends the bytes one by one, with a wait after each.
  static func slow(_ bytes: [UInt8], _ milliseconds: Int) -> Answer {
    Answer(steps: bytes.flatMap { [.bytes([$0]), .wait(milliseconds: milliseconds)] })
  }

  /// Sends the bytes, and then closes the connection.
  static func closing(_ bytes: [UInt8]) -> Answer { Answer(steps: [.bytes(bytes), .close]) }
}

/// Bits in the order of deflate: the first bit is the lowest bit of a byte.
private struct BitText {
  private(set) var bytes: [UInt8] = []
  private var count = 0

  init(literals: Int, matches: Int) {
    append("110")
    for _ in 0..<literals { append("00110000") }
    // The bits are a match of length 258 and distance 1.
    for _ in 0..<matches { append("1100010100000") }
  }

  private mutating func append(_ bits: String) {
    for bit in bits {
      if count.isMultiple(of: 8) { bytes.append(0) }
      if bit == "1" { bytes[count / 8] |= 1 << UInt8(count % 8) }
      count += 1
    }
  }
}
