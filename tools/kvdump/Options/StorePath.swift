import EntityStore
import LodestoreSystem

/// The place of a store on a command line: a file, or a folder that names its current file.
package struct StorePath: Sendable, Hashable {
  /// The path as it was given.
  let argument: String
  /// The store's file: the current one if the argument is a folder.
  package let file: String
  /// The reason why commands may not change the file, with advice; `nil` for a file.
  private let refusal: String?

  package init(_ argument: String) {
    self.argument = argument
    let folder = argument.hasSuffix("/") ? argument : argument + "/"
    if let copy = Self.copy(in: folder) {
      file = folder + copy
      refusal =
        "the folder of a follower's copy, which only 'kvdump follow' may change; change the "
        + "writer's store, or take over by 'kvdump replica takeover'"
    } else if let generation = Self.generation(in: folder) {
      file = folder + generation
      refusal =
        "the folder of a cached dataset, which only 'kvdump refresh' may change; change the "
        + "publisher's store, or a copy of the file"
    } else {
      (file, refusal) = (argument, nil)
    }
  }

  /// The file for commands that change the store; throws for a folder.
  package var writableFile: String {
    get throws {
      guard let refusal else { return file }
      throw CommandFailure.about(store: argument, code: "read-only", refusal, status: .usage)
    }
  }

  /// The name of the copy that the file of a follower names; `nil` without such a file.
  private static func copy(in folder: String) -> String? {
    guard let bytes = bytes(ofFileAt: "\(folder)follower.json"),
      let name = try? JSONDocument.parsing(bytes).root["file"]?.string,
      name.hasSuffix(".lodestore"), !name.contains("/")
    else { return nil }
    return name
  }

  /// The path of the newest file that the state of a cached dataset names; `nil` without a state.
  ///
  /// The state is the first line of its file.
  private static func generation(in folder: String) -> String? {
    guard let line = bytes(ofFileAt: "\(folder)dataset.json")?.prefix(while: { $0 != 0x0A }),
      let number = try? JSONDocument.parsing(line).root["installed"]?[0]?["generation"]?.uint64
    else { return nil }
    return "generations/\(number).lodestore"
  }

  private static func bytes(ofFileAt path: String) -> [UInt8]? {
    guard let descriptor = try? FileReading.open(path) else { return nil }
    defer { close(descriptor) }
    return try? FileReading.read(descriptor, atMost: 1 << 20)
  }
}
