import EntityStore
import LodestoreBytes
import LodestoreSystem

/// The file with the commands that were typed at the prompt, one in a line.
///
/// Each command is appended at once, so that a crash loses none and several prompts share the file.
/// Nobody but its owner may read the file.
struct ShellHistory {
  private static let most = 1_000

  let path: String

  /// The file that the environment names; `nil` without a home.
  init?(_ environment: [String: String]) {
    // The rules of XDG ignore a relative path.
    let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? "\($0)/.local/state" : nil }
    guard let folder = state ?? home else { return nil }
    path = "\(folder)/kvdump/history"
  }

  /// The last commands, the oldest first.
  ///
  /// If the file has become long, only these stay in it.
  func load() -> [String] {
    guard let descriptor = try? FileReading.open(path) else { return [] }
    defer { close(descriptor) }
    guard let bytes = try? FileReading.read(descriptor, atMost: 16 << 20) else { return [] }
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    let kept = lines.suffix(Self.most)
    if lines.count > 2 * Self.most {
      let text = kept.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
      if let file = try? OutputFile(path, replaces: true, store: "") {
        try? Array(text.utf8)._withBytes(file.write)
        try? file.commit()
      }
    }
    return kept.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Appends a command.
  ///
  /// A failure is ignored, because the command itself matters more.
  func append(_ line: String) {
    var folder = ""
    for part in path.split(separator: "/").dropLast() {
      folder += "/" + part
      mkdir(folder, 0o700)
    }
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    try? Array("\(line)\n".utf8)._withBytes(
      DescriptorSink(descriptor: descriptor, name: path).write)
  }
}
