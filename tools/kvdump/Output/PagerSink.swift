import EntityStore
import LodestoreBytes
import LodestoreSystem

/// Holds back the output until the command has ended, and shows it through a pager if it is longer
/// than the screen.
///
/// The pager gets nothing while the command runs. A person who stops reading would otherwise stop
/// the command in a read transaction, and the store could not reuse its pages. Output beyond the
/// first screen waits in an unlinked temporary file, so memory use is constant.
final class PagerSink: ByteSink {
  private let screen: any ByteSink
  private let size: Terminal.Size
  private let command: String
  private let folder: String
  private var start: [UInt8] = []
  private var rows = 0
  private var column = 0
  private var spool: Int32?
  /// Whether output goes straight to the screen, because no temporary file can be created.
  private var isDirect = false

  /// Creates a sink.
  ///
  /// The shell runs `command`; temporary files go to `folder`.
  init(screen: any ByteSink, size: Terminal.Size, command: String, folder: String) {
    self.screen = screen
    self.size = size
    self.command = command
    self.folder = folder
  }

  /// The pager that the environment names; `nil` for none.
  static func command(in environment: [String: String]) -> String? {
    let wish = environment["KVDUMP_PAGER"] ?? environment["PAGER"] ?? "less -FRX"
    return wish.isEmpty || wish == "cat" ? nil : wish
  }

  func write(_ bytes: ByteView) throws {
    if isDirect { return try screen.write(bytes) }
    if let spool { return try DescriptorSink(descriptor: spool, name: folder).write(bytes) }
    start.append(contentsOf: bytes)
    countRows(in: bytes)
    // The last row is left for the prompt of the shell.
    if rows >= size.rows { try startSpool() }
  }

  func finish() throws {
    defer { if let spool { close(spool) } }
    guard let spool else {
      if !isDirect { try start._withBytes(screen.write) }
      return
    }
    lseek(spool, 0, SEEK_SET)
    if !runPager(readingFrom: spool) { try copyToScreen(from: spool) }
  }

  /// Counts each byte as a column.
  ///
  /// The count is too high for colours and letters beyond ASCII, and never too low.
  private func countRows(in bytes: ByteView) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") || column == size.columns {
        rows += 1
        column = 0
      }
      if byte != UInt8(ascii: "\n") { column += 1 }
    }
  }

  private func startSpool() throws {
    let descriptor = FileFacts.unnamed(in: folder)
    guard descriptor >= 0 else {
      isDirect = true
      try start._withBytes(screen.write)
      start = []
      return
    }
    spool = descriptor
    try start._withBytes(DescriptorSink(descriptor: descriptor, name: folder).write)
    start = []
  }

  /// Runs the pager; returns false if the shell could not start it.
  private func runPager(readingFrom descriptor: Int32) -> Bool {
    // Control-C belongs to the pager while it runs; `less` uses it to interrupt a search or a read.
    let previous = signal(SIGINT, SIG_IGN)
    defer { signal(SIGINT, previous) }
    let status = ChildProcess.run("/bin/sh", ["sh", "-c", command], input: descriptor)
    return status != nil && status != 126 && status != 127
  }

  private func copyToScreen(from descriptor: Int32) throws {
    lseek(descriptor, 0, SEEK_SET)
    do {
      while let chunk = try FileReading.read(descriptor, atMost: 64 * 1024) {
        try chunk._withBytes(screen.write)
      }
    } catch let error as FileReading.Fault {
      throw CommandFailure.system(error.code, thing: folder)
    }
  }
}
