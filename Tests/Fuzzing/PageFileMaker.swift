import Foundation
import LMDB
import LodestoreFormat

@testable import EntityStore

/// Small sound files, and the changes that an input makes in one.
///
/// An input is a list of changes and not a file, because nearly all bytes of a file are content,
/// whose changes test nothing. The first byte chooses the file. Each change is a page, an offset of
/// two bytes, a form, and a value.
struct PageFileMaker: Sendable {
  /// The meaning of a change's offset, stored in the two lowest bits of its form.
  ///
  /// The next two bits are the length of the value. The bit after them tells whether the file ends
  /// at that place.
  enum Place: UInt8 {
    case page, header, node, pointer
  }

  let folder: String
  let files: [[UInt8]]

  init() throws {
    let memory = "/dev/shm"
    let parent =
      FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    folder = "\(parent)/lodestore-fuzz-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    files = try [Self.plain(folder + "/plain"), Self.store(folder + "/store")]
  }

  /// The file that `input` describes.
  func file(_ input: inout InputReader) -> [UInt8] {
    var file = files[input.number(below: files.count)]
    while !input.rest.isEmpty {
      let page = input.number(below: file.count / 4_096) * 4_096
      let raw = Int(input.byte()) << 8 | Int(input.byte())
      let form = input.byte()
      let offset = page + Self.offset(raw, Place(rawValue: form & 3) ?? .page, in: file[page...])
      if form & 16 != 0 {
        // The cut is never within the meta pages, because a file without them is refused at once.
        return Array(file.prefix(max(offset, 8_192)))
      }
      for place in offset..<min(offset + 1 << Int(form >> 2 & 3), file.count) {
        file[place] = input.byte()
      }
    }
    return file
  }

  private static func offset(_ raw: Int, _ place: Place, in page: ArraySlice<UInt8>) -> Int {
    let start = page.startIndex
    func word(_ at: Int) -> Int { Int(page[start + at]) | Int(page[start + at + 1]) << 8 }
    switch place {
    case .page: return raw & 4_095
    // In a meta page, the offset may also be in the fields after the 16 bytes of the header.
    case .header: return raw & (start < 8_192 ? 255 : 15)
    case .pointer: return 16 + (raw & 255) % max(1, word(12) - 16)
    case .node:
      let count = max(0, word(12) - 16) / 2
      let pointer = 16 + 2 * ((raw >> 4) % max(count, 1))
      guard pointer + 1 < 4_096 else { return 0 }
      return (word(pointer) + raw & 15) & 4_095
    }
  }

  // MARK: Files

  /// Makes a file with trees of both kinds of keys, deep and empty trees, long values, and free
  /// pages of several commits.
  private static func plain(_ path: String) throws -> [UInt8] {
    var options = EnvironmentOptions()
    options.mapSizeInBytes = 1 << 24
    let environment = try EnvironmentRegistry.open(path, options: options) { _ in }
    func change(_ body: (WritingTransaction, Tree, Tree) throws -> Void) throws {
      try environment.write { transaction in
        guard
          let texts = try environment.tree(
            "texts", isCreated: true, hasIntegerKeys: false, in: transaction),
          let numbers = try environment.tree(
            "numbers", isCreated: true, hasIntegerKeys: true, in: transaction)
        else { fatalError("a tree that is made is not there") }
        _ = try environment.tree("none", isCreated: true, hasIntegerKeys: false, in: transaction)
        try body(transaction, texts, numbers)
      }
    }
    try change { transaction, texts, numbers in
      for number in UInt8(0)..<40 {
        let key = [UInt8](repeating: number, count: Int(number) * 9 + 1)
        try transaction.put(key, [UInt8](repeating: number, count: 60), in: texts)
        try transaction.put(
          littleEndianBytes(UInt64(number)), [UInt8](repeating: number, count: 90), in: numbers)
      }
      try transaction.put([7, 7], [UInt8](repeating: 7, count: 9_000), in: texts)
    }
    try change { transaction, texts, numbers in
      for number in UInt64(5)..<20 { try transaction.delete(number, in: numbers) }
      try transaction.put([8, 8], [UInt8](repeating: 8, count: 5_000), in: texts)
    }
    try change { transaction, texts, _ in _ = try transaction.delete([8, 8], in: texts) }
    EnvironmentRegistry.close(environment)
    return try contents(path)
  }

  private static func store(_ path: String) throws -> [UInt8] {
    let store = try Store(at: path, entities: [Specimen.self])
    try store.write { _ = try $0.insert(Specimen.samples) }
    store.close()
    return try contents(path)
  }

  private static func contents(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  // MARK: Seeds

  /// Seeds with one change for each field of each page of each file.
  var seeds: [[UInt8]] {
    var seeds: [[UInt8]] = []
    for (number, file) in files.enumerated() {
      for page in 0..<(file.count / 4_096) {
        // The fields are: flags, lower and upper bound of a header; a slot; the size, flags and key
        // size of a node.
        for (high, low, form) in [
          (0, 10, 0x05), (0, 12, 0x05), (0, 14, 0x05), (0, 0, 0x07), (0, 0, 0x06), (0, 4, 0x06),
          (0, 6, 0x06), (0, 24, 0x0D), (0, 128, 0x0D),
        ] as [(UInt8, UInt8, UInt8)] {
          seeds.append([UInt8(number), UInt8(page), high, low, form, 2, 0, 0, 0, 0, 0, 0, 0])
        }
      }
      seeds.append([UInt8(number)])
    }
    return seeds
  }
}
