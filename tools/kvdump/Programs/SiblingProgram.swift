import ArgumentParser
import LodestoreSystem

/// A program that has some of kvdump's commands, so that kvdump does not need its libraries.
///
/// kvdump replaces itself by the program, so the process, its streams and its exit status stay the
/// same.
enum SiblingProgram: String {
  /// The commands that sign and fetch, which need libraries for cryptography and the web.
  case datasets = "kvdump-datasets"
  /// The commands that serve pages and tools; the pages need sockets.
  case inspector = "kvdump-inspector"

  var name: String { rawValue }

  /// Replaces this process by the program with these arguments.
  ///
  /// Searches the folder of kvdump first, then the folders of PATH.
  ///
  /// - Returns: The failure if the program is not found. Otherwise the call does not return.
  func start(_ arguments: [String]) -> CommandFailure {
    var words = ([name] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    if let folder = Self.folderOfThisProgram { execv("\(folder)/\(name)", words) }
    execvp(name, words)
    return errno == ENOENT || errno == ENOTDIR
      ? .noProgram(self, for: arguments.first ?? "") : .system(errno, thing: name)
  }

  static var folderOfThisProgram: String? {
    #if canImport(Darwin)
      var size = UInt32(0)
      _ = _NSGetExecutablePath(nil, &size)
      var bytes = [CChar](repeating: 0, count: Int(size) + 1)
      guard _NSGetExecutablePath(&bytes, &size) == 0 else { return nil }
      let link = String(
        decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    #else
      let link = "/proc/self/exe"
    #endif
    guard let resolved = realpath(link, nil) else { return nil }
    defer { free(resolved) }
    let path = String(cString: resolved)
    return path.lastIndex(of: "/").map { String(path[..<$0]) }
  }

  /// Returns whether ``datasets`` must verify a path: a manifest, or the folder of one.
  static func verifiesDatasets(at path: String) -> Bool {
    guard let status = stat(at: path) else { return false }
    if status.st_mode & S_IFMT == S_IFDIR {
      return ["manifest.json", "keys", "g"].contains { FileFacts.exists("\(path)/\($0)") }
    }
    return path.split(separator: "/").last == "manifest.json"
  }
}

extension CommandFailure {
  static func noProgram(_ program: SiblingProgram, for command: String) -> Self {
    CommandFailure(
      code: program == .datasets ? "no-datasets-program" : "no-inspector-program",
      message:
        "\(command): is a command of \(program.name), which is neither in kvdump's folder nor in "
        + "PATH; build it by 'swift build -c release --product \(program.name)' and put it "
        + "beside kvdump", status: .noInput)
  }
}
