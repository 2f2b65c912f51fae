import Foundation
import LoopbackWeb
import Testing

/// A running server of S3 buckets, moto of PyPI, on loopback until the object is released.
///
/// Its buckets are in its memory. `MOTO_SERVER` may name the program.
final class BucketServer {
  static let bucket = "datasets"

  let port: UInt16
  private let process = Process()

  init?() throws {
    let environment = ProcessInfo.processInfo.environment
    guard let program = environment["MOTO_SERVER"] ?? OutsideProgram.path("moto_server") else {
      return nil
    }
    // The port may be taken by another process before the server binds it. The next test run gets
    // another port.
    let reserved = try Socket.bound()
    port = try Socket.port(of: reserved)
    close(reserved)
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["-H", "127.0.0.1", "-p", "\(port)"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    guard try waitUntilListening() else {
      print("skipped: \(program) does not serve; install moto with flask")
      stop()
      return nil
    }
    #expect(try put(Data(), to: "/\(Self.bucket)") == 200)
  }

  deinit { stop() }

  func stop() {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  /// Waits until the server listens, which takes a while in Python; returns false if the server
  /// ends.
  private func waitUntilListening() throws -> Bool {
    for _ in 0..<2_400 where process.isRunning {
      if (try? Socket.exchange(Self.request("GET", "/"), with: port)) != nil { return true }
      usleep(100_000)
    }
    return false
  }

  /// The folder of a bucket, as a program names it.
  func url(_ folder: String) throws -> URL {
    try #require(URL(string: "http://127.0.0.1:\(port)/\(Self.bucket)/\(folder)/"))
  }

  // MARK: Uploading

  /// Uploads the files of a folder, the manifest last, each readable by everyone.
  func sync(_ folder: String, to target: String) throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
      var isFolder: ObjCBool = false
      let isThere = FileManager.default.fileExists(
        atPath: "\(folder)/\(name)", isDirectory: &isFolder)
      return isThere && !isFolder.boolValue && !name.hasPrefix(".")
    }
    for name in names.filter({ $0 != "manifest.json" }) + ["manifest.json"] {
      let content = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
      #expect(try put(content, to: "/\(Self.bucket)/\(target)/\(name)") == 200, "\(name)")
    }
  }

  /// The status of the answer to an upload.
  private func put(_ content: Data, to path: String) throws -> Int? {
    let request = Self.request(
      "PUT", path, ["Content-Length: \(content.count)", "x-amz-acl: public-read"])
    let answer = try Socket.exchange(request + Array(content), with: port)
    return Self.status(answer)
  }

  private static func request(
    _ method: String, _ target: String, _ fields: [String] = []
  ) -> [UInt8] {
    let lines =
      ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1"] + fields
      + ["Connection: close", "", ""]
    return Array(lines.joined(separator: "\r\n").utf8)
  }

  private static func status(_ answer: [UInt8]) -> Int? {
    String(decoding: answer.prefix { $0 != 0x0D }, as: UTF8.self).split(separator: " ")
      .dropFirst().first.flatMap { Int($0) }
  }

  // MARK: A connection that breaks

  /// An answer of the bucket as it came.
  struct Passed: Sendable {
    var request: LoopbackServer.Request
    var status: Int
    var bodyLength: Int
  }

  /// Passes a request that came to another server on to the bucket, and returns its answer with
  /// unchanged bytes.
  ///
  /// - Parameter limit: The number of bytes of the body after which the connection is cut; nil
  ///   passes all.
  static func pass(
    _ request: LoopbackServer.Request, to port: UInt16, cutAfter limit: Int? = nil
  ) throws -> (answer: Answer, passed: Passed) {
    let fields = request.fields.filter { $0.key != "connection" }.map { "\($0.key): \($0.value)" }
    let lines = ["GET \(request.target) HTTP/1.1"] + fields + ["Connection: close", "", ""]
    var bytes = try Socket.exchange(
      Array(lines.joined(separator: "\r\n").utf8), with: port)
    let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? bytes.count
    let passed = Passed(
      request: request, status: status(bytes) ?? 0, bodyLength: bytes.count - end)
    if let limit { bytes = Array(bytes.prefix(end + limit)) }
    return (Answer(steps: [.bytes(bytes), .close]), passed)
  }
}
