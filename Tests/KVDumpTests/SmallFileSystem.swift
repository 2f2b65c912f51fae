// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation

@testable import KVDumpCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file system of some megabytes, mounted from a file in its own folder, and removed with the
/// object.
final class SmallFileSystem {
  enum Kind: String, CaseIterable, Sendable {
    case tmpfs, ext4, btrfs
    /// File systems on which no store may be opened for writing, because their locks and maps are
    /// not known to be safe.
    case ramfs, vfat

    static let listed: [Kind] = [.tmpfs, .ext4, .btrfs]
    static let others: [Kind] = [.ramfs, .vfat]

    /// Whether the file system is in memory.
    fileprivate var isNoImage: Bool { self == .tmpfs || self == .ramfs }
    fileprivate var maker: [String] {
      self == .vfat ? ["mkfs.vfat"] : ["mkfs.\(self)", "-q"]
    }
    /// The smallest size that the tools accept.
    fileprivate var megabytes: Int { self == .btrfs ? 120 : 16 }
  }

  /// The mount point.
  let path: String
  private let folder: StoreFolder
  private var isMounted = false

  /// Mounts a file system; `nil` with a printed reason if it cannot be mounted.
  init?(_ kind: Kind) throws {
    folder = try StoreFolder()
    path = folder.path + "/mounted"
    #if os(Linux)
      guard geteuid() == 0 else {
        print("skipped: \(kind) cannot be mounted, which only root may")
        return nil
      }
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      var options = ["-t", "\(kind)", "-o", "size=\(kind.megabytes)m", "\(kind)"]
      if !kind.isNoImage {
        let image = folder.path + "/image"
        try Data().write(to: URL(fileURLWithPath: image))
        truncate(image, off_t(kind.megabytes) << 20)
        guard Self.run(kind.maker[0], kind.maker.dropFirst() + [image]) else {
          print("skipped: no mkfs.\(kind); e2fsprogs, btrfs-progs and dosfstools have them")
          return nil
        }
        options = ["-o", "loop", image]
      }
      guard Self.run("mount", options + [path]) else {
        print("skipped: \(kind) cannot be mounted here")
        return nil
      }
      isMounted = true
    #else
      print("skipped: \(kind) can be mounted on Linux only")
      return nil
    #endif
  }

  deinit { if isMounted { _ = Self.run("umount", "-l", path) } }

  private static func run(_ name: String, _ arguments: String...) -> Bool { run(name, arguments) }

  private static func run(_ name: String, _ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["PATH=/usr/sbin:/sbin:/usr/bin:/bin", name] + arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  func makeReadOnly() -> Bool { Self.run("mount", "-o", "remount,ro", path) }

  // MARK: Room

  private var ballast: String { path + "/ballast" }

  /// Fills the file system, except for about `rest` bytes.
  func fill(leaving rest: Int = 0) {
    let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    for size in [1 << 20, 1 << 16, 4_096, 512, 1] {
      let bytes = [UInt8](repeating: 1, count: size)
      while write(file, bytes, size) == size {}
      // Some file systems find out only when the bytes go to the disk.
      fsync(file)
    }
    var status = stat()
    if rest > 0, fstat(file, &status) == 0 { ftruncate(file, status.st_size - off_t(rest)) }
    fsync(file)
  }

  func free() {
    unlink(ballast)
    // btrfs gives the room back with a commit.
    _ = Self.run("sync", "-f", path)
  }

  /// The names of the files, without the ballast file and the file system's own files.
  func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted().filter {
      !["ballast", "lost+found"].contains($0)
    }
  }

  // MARK: Commands

  struct Outcome {
    /// The exit status of the command; nil if a signal ended it.
    let status: KVDumpCommands.ExitStatus?
    let data: String
    let messages: String
    let seconds: Double
  }

  /// Runs the tool in a separate process, which a bus error would end.
  func run(_ tool: String, _ arguments: String..., limit: String = "true") throws -> Outcome {
    let (said, told) = (folder.path + "/said", folder.path + "/told")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments =
      ["-c", "exec >'\(said)' 2>'\(told)'; \(limit); exec \"$@\"", "sh", tool] + arguments
    let start = DispatchTime.now()
    try process.run()
    process.waitUntilExit()
    let nanoseconds = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
    let status =
      process.terminationReason == .exit
      ? KVDumpCommands.ExitStatus(rawValue: process.terminationStatus) : nil
    return Outcome(
      status: status, data: String(decoding: try folder.bytes(said), as: UTF8.self),
      messages: String(decoding: try folder.bytes(told), as: UTF8.self),
      seconds: Double(nanoseconds) / 1e9)
  }

  /// Writes a file elsewhere and returns its path.
  func input(_ name: String, _ text: String) throws -> String { try folder.file(name, text) }
}
