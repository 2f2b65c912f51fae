internal import EntityStore
internal import LodestoreDatasets
internal import LodestoreSystem

/// The folder of a follower, and the names in it.
///
///     follower.json               names the current file
///     follower.lock               locked by the process that follows; empty
///     SLOT-NUMBER.lodestore       the store that began at the base of a slot
///     incoming/SLOT-NUMBER…       a base that is being downloaded or copied
///
/// Only the holder of the lock writes. A new file is complete before `follower.json` names it.
struct FollowerFolder: Sendable {
  let path: String

  var pointer: String { path + "/follower.json" }
  var lock: String { path + "/follower.lock" }
  var incoming: String { path + "/incoming" }
  static let suffix = ".lodestore"

  init(_ path: String) {
    var path = Substring(path)
    while path.count > 1, path.hasSuffix("/") { path = path.dropLast() }
    self.path = String(path)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func make() throws {
    do {
      try SystemFile.makeFolder(incoming)
    } catch { throw ReplicaError(error) }
  }

  /// Locks the folder.
  ///
  /// - Throws: ``ReplicaError`` with the code `busy` while another process follows.
  func locked() throws -> FileLock {
    do throws(DatasetError) {
      if let lock = try FileLock.exclusive(making: self.lock) { return lock }
    } catch { throw ReplicaError(error) }
    throw ReplicaError(
      .busy,
      "cannot follow into '\(path)': another follower has the folder; stop that follower, or use "
        + "another folder")
  }

  /// The document that names the current file.
  struct Pointer: ReplicaDocument {
    var file: String

    init(file: String) { self.file = file }

    init(reading bytes: [UInt8], named name: String) throws(PackError) {
      let object = try ReplicaObject(bytes, name)
      file = try object.text("file")
      guard !file.contains("/"), file.hasSuffix(FollowerFolder.suffix) else {
        throw object.wrong("file")
      }
    }

    var bytes: [UInt8] { ReplicaObjectWriter.bytes { $0.text("file", file) } }
  }

  /// The path of the current file; `nil` before the first one.
  var current: String? {
    get throws {
      do {
        guard let bytes = try SystemFile.bytes(of: pointer, atMost: 1 << 16) else { return nil }
        let path = file(try Pointer(reading: bytes, named: "follower.json").file)
        return SystemFile.stamp(of: path) == nil ? nil : path
      } catch let error as DatasetError {
        throw ReplicaError(error)
      } catch let error as PackError { throw ReplicaError(error) }
    }
  }

  /// Makes a file of the folder the current one.
  func setCurrent(_ name: String) throws {
    do {
      try SystemFile.replace(pointer, with: Pointer(file: name).bytes)
    } catch { throw ReplicaError(error) }
  }

  /// Removes all other stores than the current one that no process has open, and incoming files.
  ///
  /// - Returns: Whether all of them are gone.
  func removeOthers(than current: String) -> Bool {
    var areGone = true
    for name in SystemFile.names(in: path)
    where name.hasSuffix(Self.suffix) && file(name) != current {
      if !Store.removeUnusedFile(at: file(name)) { areGone = false }
    }
    for name in SystemFile.names(in: incoming) { unlink("\(incoming)/\(name)") }
    return areGone
  }
}
