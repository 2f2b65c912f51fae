import EntityStore
import LodestoreSystem

/// The place of a store on a command line: a file, or the folder of a follower's copy.
package struct StorePath: Sendable, Hashable {
  /// The path as it was given.
  let argument: String
  /// The store's file: the current copy if the argument is the folder of a follower.
  package let file: String

  package init(_ argument: String) {
    self.argument = argument
    file = Self.copy(in: argument) ?? argument
  }

  /// The file for commands that change the store.
  ///
  /// Another writer than the follower makes a copy useless, so the folder is refused.
  var writableFile: String {
    get throws {
      guard file != argument else { return file }
      throw CommandFailure.about(
        store: argument, code: "read-only",
        "the folder of a follower's copy, which only 'kvdump follow' may change; change the "
          + "writer's store, or take over by 'kvdump replica takeover'", status: .usage)
    }
  }

  /// The path of the copy that `follower.json` names; `nil` without such a file.
  private static func copy(in folder: String) -> String? {
    guard let bytes = bytes(ofFileAt: "\(folder)/follower.json"),
      let name = try? JSONDocument.parsing(bytes).root["file"]?.string,
      name.hasSuffix(".lodestore"), !name.contains("/")
    else { return nil }
    return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  private static func bytes(ofFileAt path: String) -> [UInt8]? {
    guard let descriptor = try? FileReading.open(path) else { return nil }
    defer { close(descriptor) }
    return try? FileReading.read(descriptor, atMost: 1 << 16)
  }
}
