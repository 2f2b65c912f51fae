import CLMDB
import LodestoreBytes
import LodestoreSystem

extension PageEngine {
  /// Copies the newest commit into an open file.
  ///
  /// If LMDB can read the format, LMDB makes the copy, also without a lock file. The pages of a
  /// file of the other format are copied unchanged; a compacting copy of it is refused.
  func copy(into target: Int32, _ compacting: Bool, _ step: ((Int) -> Bool)?) throws(LMDBError) {
    let before = try newest()
    if format == .ofEngine {
      var options = EnvironmentOptions()
      options.access = .readOnly
      options.isNamed = false
      options.mapSizeInBytes = max(options.mapSizeInBytes, before.map.byteCount)
      let engine = try Environment.open(
        path, options, StoreFile.identity(of: file.descriptor), nil, flags: UInt32(MDB_NOLOCK))
      defer { engine.shutDown() }
      try engine.copy(into: target, compacting, step)
    } else if compacting {
      throw LMDBError(.otherEngine(format), operation: "compact", path: path)
    } else {
      try copyPages(of: before, into: target, step)
    }
    // The copy may contain a newer commit than `before`. If the pages of `before` stayed intact
    // during the copy, the pages of the newer commit did too.
    guard before.isWhole else { throw LMDBError(.overtaken, operation: "copy", path: path) }
  }

  private func copyPages(
    of snapshot: PageSnapshot, into target: Int32, _ step: ((Int) -> Bool)?
  ) throws(LMDBError) {
    let piece = 1 << 20
    let size = Int(snapshot.pageCount) * pageSize
    var offset = 0
    while offset < size {
      let part = ByteView(start: snapshot.map.base + offset, count: min(piece, size - offset))
      let code = part.writeAll(to: target)
      guard code == 0 else {
        throw StoreFile.failedWrite(code, to: target, operation: "copy to", path: path)
      }
      offset += part.count
      if let step, !step(offset) { throw LMDBError(.cancelled, operation: "copy to", path: path) }
    }
    // Meta pages written during the copy would refer to pages that the copy may lack.
    guard snapshot.map.newestTransaction == snapshot.transaction else {
      throw LMDBError(.overtaken, operation: "copy", path: path)
    }
  }
}
