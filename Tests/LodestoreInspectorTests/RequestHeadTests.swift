import Testing

@testable import LodestoreInspector

@Suite("Heads of requests")
struct RequestHeadTests {
  private func head(_ text: String) throws(RequestHead.Fault) -> RequestHead {
    try RequestHead(Array(text.utf8)[...])
  }

  private func status(_ text: String) -> Int {
    do {
      _ = try head(text)
      return 200
    } catch {
      return error.status
    }
  }

  @Test func `a head has a method, a target and fields`() throws {
    let head = try head(
      "GET /Book?a=b HTTP/1.1\r\nHost: 127.0.0.1:80\r\nCOOKIE:\t a=b; c \r\nX-Empty:")
    #expect(head.method == "GET" && head.target == "/Book?a=b" && head.minorVersion == 1)
    #expect(head["host"] == "127.0.0.1:80" && head["cookie"] == "a=b; c" && head["x-empty"] == "")
    #expect(head.keepsAlive && head.bodyLength == 0 && !head.expectsContinue)
    let post = try self.head(
      "POST / HTTP/1.1\nContent-Length: 12\nExpect: 100-Continue\nConnection: x, Close")
    #expect(post.bodyLength == 12 && post.expectsContinue && !post.keepsAlive)
    #expect(try !self.head("GET / HTTP/1.0").keepsAlive)
  }

  @Test(arguments: [
    ("", 400), ("GET", 400), ("GET /", 400), ("GET  / HTTP/1.1", 400), ("GET / HTTP/1.1 x", 400),
    ("G(T / HTTP/1.1", 400), ("GET /\u{0} HTTP/1.1", 400), ("GET /ü HTTP/1.1", 400),
    ("GET / HTTP/2", 505), ("GET / HTTP/1.15", 505), ("GET / FTP/1.1", 400),
    ("GET / HTTP/1.1\r\nHost", 400), ("GET / HTTP/1.1\r\n: x", 400),
    ("GET / HTTP/1.1\r\nHost : x", 400), ("GET / HTTP/1.1\r\n folded", 400),
    ("GET / HTTP/1.1\r\nA: b\rC: d", 400), ("GET / HTTP/1.1\r\nA: \u{0}", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nhost: b", 400),
    ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked", 411),
    ("GET / HTTP/1.1\r\nContent-Length: -1", 400),
    ("GET / HTTP/1.1\r\nContent-Length: 1, 1", 400),
    ("GET / HTTP/1.1\r\nContent-Length:", 400),
    ("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999", 200),
  ])
  func `other bytes are refused`(text: String, expected: Int) {
    #expect(status(text) == expected)
  }

  @Test func `an address and the fields have a limit`() {
    let long = String(repeating: "a", count: Address.longest)
    #expect(status("GET /\(long) HTTP/1.1") == 414)
    let fields = (0...RequestHead.mostFields).map { "\r\nF\($0): x" }.joined()
    #expect(status("GET / HTTP/1.1\(fields)") == 431)
  }

  @Test(arguments: ["\r\n", "\n"])
  func `heads are found wherever their bytes are divided`(end: String) throws {
    let text = "\(end)GET /1 HTTP/1.1\(end)Host: a\(end)\(end)GET /2 HTTP/1.1\(end)\(end)rest"
    let bytes = Array(text.utf8)
    for size in 1...bytes.count {
      var received = ReceivedBytes()
      var targets: [String] = []
      var start = 0
      while start < bytes.count {
        received.append(Array(bytes[start..<min(start + size, bytes.count)]))
        start += size
        while let head = try received.takeHead() { targets.append(head.target) }
      }
      #expect(targets == ["/1", "/2"])
      #expect(received.take(99) == Array("rest".utf8))
    }
  }

  @Test func `a head without an end is refused at the limit`() throws {
    var received = ReceivedBytes()
    let line = Array("Field: value\r\n".utf8)
    var count = 0
    #expect(throws: RequestHead.Fault.self) {
      while count < 1 << 20 {
        received.append(line)
        count += line.count
        let head = try received.takeHead()
        #expect(head == nil)
      }
    }
    #expect(count <= RequestHead.longest + line.count)
  }

  @Test(arguments: 1...50)
  func `any bytes are a head or a fault`(seed: Int) {
    var random = SeededRandom(state: UInt64(seed))
    let pieces: [[UInt8]] = [
      Array("GET ".utf8), Array("/ ".utf8), Array("HTTP/1.1".utf8), [13, 10], [10], [13], [0],
      [0xFF], Array("Host: a".utf8), Array("Content-Length: 5".utf8), [0x20], [0x3A],
    ]
    for _ in 0..<200 {
      var received = ReceivedBytes()
      do throws(RequestHead.Fault) {
        for _ in 0..<Int.random(in: 1...20, using: &random) {
          received.append(pieces.randomElement(using: &random) ?? [])
          while let head = try received.takeHead() { #expect(!head.method.isEmpty) }
        }
      } catch {
        #expect(error.status >= 400)
      }
    }
  }
}
