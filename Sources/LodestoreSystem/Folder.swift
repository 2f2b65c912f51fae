/// The paths of folders, and the names in them.
package enum Folder {
  /// The path of the folder that has the file; `.` for a mere name.
  package static func path(of file: String) -> String {
    guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == file.startIndex ? "/" : String(file[..<slash])
  }

  /// The names in a folder that begin with `prefix`; `nil`, with the reason in `errno`, if the
  /// folder cannot be read.
  package static func names(in folder: String, beginningWith prefix: String = "") -> [String]? {
    guard let stream = opendir(folder) else { return nil }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      // Most names may have another prefix; they are skipped without a copy.
      withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        guard bytes.starts(with: prefix.utf8) else { return }
        names.append(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
      }
    }
    return names.filter { $0 != "." && $0 != ".." }
  }
}
