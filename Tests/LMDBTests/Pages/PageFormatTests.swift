import LodestoreBytes
import LodestoreSystem
import Testing

@testable import LMDB

/// Files of LMDB 0.9 and of LMDB 1.0.
///
/// The engine of these tests reads only one of the two formats.
@Suite struct PageFormatTests {
  private static var other: PageFormat { format == .lmdb09 ? .lmdb10 : .lmdb09 }

  /// A file of a format with no tree: its two meta pages, as the engine makes them.
  private static func emptyFile(_ format: PageFormat, version: UInt32? = nil) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 2 * 4_096)
    func put<N: FixedWidthInteger>(_ number: N, at offset: Int) {
      withUnsafeBytes(of: number.littleEndian) {
        bytes.replaceSubrange(offset..<offset + $0.count, with: $0)
      }
    }
    for page in 0...1 {
      let start = page * 4_096
      let meta = format.meta
      put(UInt64(page), at: start)
      put(PageFlag.meta, at: start + format.flags)
      put(MetaPageLayout.magicNumber, at: start + meta.magic)
      put(version ?? format.dataVersion, at: start + meta.version)
      put(UInt64(1 << 20), at: start + meta.mapSize)
      put(UInt32(4_096), at: start + meta.freeList + TreeRecordLayout.pageSize)
      put(TreeRecordLayout.integerKeys, at: start + meta.freeList + TreeRecordLayout.flags)
      put(UInt64.max, at: start + meta.freeList + TreeRecordLayout.root)
      put(UInt64.max, at: start + meta.names + TreeRecordLayout.root)
      put(UInt64(1), at: start + meta.lastPage)
    }
    return bytes
  }

  @Test func `a file states its format, and other files state none`() {
    for format in PageFormat.all {
      Self.emptyFile(format)._withBytes { bytes in
        #expect(PageFormat(ofFile: bytes) == format)
        #expect(PageFormat(ofFile: bytes[..<31]) == nil)
        #expect(PageFormat(ofFile: bytes[1...]) == nil)
      }
      Self.emptyFile(format, version: 2)._withBytes { #expect(PageFormat(ofFile: $0) == nil) }
    }
  }

  @Test func `the engine opens a file of its own format`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    write(Self.emptyFile(format), to: path)
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    try environment.write { transaction in
      _ = try environment.tree("t", isCreated: true, hasIntegerKeys: false, in: transaction)
    }
    #expect(try environment.read { try $0.treeNames() } == ["t"])
  }

  @Test(arguments: [false, true], [nil, 0, 12_345])
  func `a file of the other format is read, and refused for writing without a change`(
    isReadOnly: Bool, lockFileSize: Int?
  ) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let bytes = Self.emptyFile(Self.other)
    write(bytes, to: path)
    // The other engine may have left such a lock file, and may still use it, so it must stay
    // unchanged.
    let lock = lockFileSize.map { [UInt8](repeating: 7, count: $0) }
    if let lock { write(lock, to: path + "-lock") }
    let names = directory.names
    for _ in 0..<2 {
      do {
        let environment = try openEnvironment(path) { if isReadOnly { $0.access = .readOnly } }
        defer { EnvironmentRegistry.close(environment) }
        #expect(isReadOnly, "the file was opened for writing")
        #expect(try environment.read { try $0.treeNames() } == [])
        #expect(environment.otherEngine == Self.other.engine)
      } catch let error as LMDBError {
        #expect(error.kind == .otherEngine(Self.other) && !isReadOnly)
        let text = "\(error)"
        #expect(text.contains("\(Self.other.engine) made it"), "\(text)")
        #expect(text.contains("LMDB \(EngineFence.Version.running) writes"), "\(text)")
      }
    }
    #expect(contents(of: path) == bytes)
    #expect(directory.names == names)
    if let lock { #expect(contents(of: path + "-lock") == lock) }
  }

  @Test func `a file of another data version is refused with both versions`() throws {
    let directory = try TemporaryDirectory()
    for format in PageFormat.all {
      let path = directory.file("store")
      write(Self.emptyFile(format, version: 999), to: path)
      guard case .notAnEnvironment(let what)? = kind({ _ = try openEnvironment(path) }) else {
        Issue.record("a file of data version 999 was opened")
        continue
      }
      #expect(
        what == "its LMDB data version is 999, must be \(format.dataVersion) as in \(format.engine)"
      )
    }
    #expect(directory.names == ["store"])
  }

  @Test func `tree names in errors are those that the program gave, whatever the file holds`()
    throws
  {
    for format in PageFormat.all {
      for name in ["a", "records.1", "é"] {
        #expect(format.name(ofTree: format.key(ofTree: name)) == name)
      }
    }
    try withEnvironment { environment, _ in
      let names = try environment.read { try $0.treeNames() }
      #expect(names == ["t"])
    }
  }

  /// For some failures LMDB 1.0 has its own codes where LMDB 0.9 reports the system's codes.
  @Test func `codes of the file system are those of the system`() {
    #expect(EngineDifferences.code(-30772) == EIO)
    #expect(EngineDifferences.code(-30770) == EACCES)
    for code: Int32 in [0, EIO, ENOSPC, -30799, -30792, -30780] {
      #expect(EngineDifferences.code(code) == code)
    }
  }
}
