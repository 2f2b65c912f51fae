internal import LodestoreSystem

/// Lists the objects of a ``FolderStorage``.
struct FolderList {
  private static let depthLimit = 64

  let storage: FolderStorage
  let prefix: String
  /// Only keys greater than this one are listed.
  let after: String?

  func page(limit: Int) throws(StorageError) -> ObjectPage {
    var keys: [String] = []
    let folder = prefix.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(prefix[..<$0]) } ?? ""
    guard folder.isEmpty || ObjectKey(folder) != nil else {
      return ObjectPage(entries: [], isLast: true)
    }
    try collect(in: folder, depth: 0, &keys)
    keys.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var entries: [ObjectPage.Entry] = []
    for (index, key) in keys.enumerated() {
      do throws(StorageError) {
        let file = try FolderFile.open("\(storage.root)/\(key)", storage, .list, key)
        entries.append(ObjectPage.Entry(key: key, head: try file.head()))
      } catch {
        // The object was deleted meanwhile.
        guard error.kind == .notFound else { throw error }
      }
      if entries.count == limit {
        return ObjectPage(entries: entries, isLast: index == keys.count - 1)
      }
    }
    return ObjectPage(entries: entries, isLast: true)
  }

  /// Adds the keys of a folder and of the folders in it.
  private func collect(
    in folder: String, depth: Int, _ keys: inout [String]
  ) throws(StorageError) {
    let start = folder.isEmpty ? "" : "\(folder)/"
    let path = folder.isEmpty ? storage.root : "\(storage.root)/\(folder)"
    guard let names = Folder.names(in: path) else {
      guard errno != ENOENT, errno != ENOTDIR else { return }
      throw storage.system(errno, .list, prefix)
    }
    for name in names where !name.hasPrefix(FolderStorage.ownPrefix) {
      let key = start + name
      guard ObjectKey(key) != nil,
        prefix.beginsWithBytes(of: key) || key.beginsWithBytes(of: prefix),
        let status = stat(at: "\(storage.root)/\(key)", followsLink: false)
      else { continue }
      if status.isRegularFile {
        let isAfter = after.map { $0.utf8.lexicographicallyPrecedes(key.utf8) } ?? true
        if isAfter, key.beginsWithBytes(of: prefix) { keys.append(key) }
      } else if status.st_mode & S_IFMT == S_IFDIR, depth < Self.depthLimit {
        try collect(in: key, depth: depth + 1, &keys)
      }
    }
  }
}

extension String {
  /// Whether the text begins with the bytes of another text.
  func beginsWithBytes(of other: String) -> Bool { utf8.starts(with: other.utf8) }
}
