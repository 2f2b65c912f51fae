import Foundation
import Testing

@testable import EntityStore

@Suite struct `Text that gzip has compressed` {
  private static let text =
    #"{"k":1,"v":""# + String(repeating: "a", count: 68) + "\"}\n{\"k\":2}\n"
  /// The text as zlib compresses it in five ways: dynamic codes, stored, fixed codes, no matches,
  /// repetitions only.
  ///
  /// Two more forms are a member with a complete header, and two members followed by zeros.
  private static let compressed = [
    """
    H4sIAAAAAAACA6tWylayMtRRKlOyUkqkAlCq5aoGGWlUywUALFP2g1sAAAA=
    """,
    """
    H4sIAAAAAAAEAwFbAKT/eyJrIjoxLCJ2IjoiYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYW\
    FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWEifQp7ImsiOjJ9CixT9oNbAAAA
    """,
    """
    H4sIAAAAAAAEA6tWylayMtRRKlOyUkqkAlCq5aoGGWlUywUALFP2g1sAAAA=
    """,
    """
    H4sIAAAAAAACAwXBoREAIAwEMM8YrzEgu010PYZjd5KbTq2ZkwoAAAAAAAAAAOSNm07tNz4sU/aDWwAAAA==
    """,
    """
    H4sIAAAAAAACA6tWylayMtRRKlOyUkqkAlCq5apWylayMqrlAgAsU/aDWwAAAA==
    """,
    """
    H4sIHgAAAAAA/wMAYWJjbmFtZS5qc29ubABhIGNvbW1lbnQAEjSrVspWsjLUUSpTslJKpAJQquWqBhlpVMsFACxT9o\
    NbAAAA
    """,
    """
    H4sIAAAAAAACA6tWylayMtRRKlOyUkrEAwA+LkTnKAAAAB+LCAAAAAAAAgNLTCQOKNVyVStlK1kZ1XIBALbb+wIzAA\
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
    """,
  ].map { Data(base64Encoded: $0) ?? Data() }

  /// The decompressed bytes; the input is passed in pieces of `pieces` bytes.
  private static func read(
    _ bytes: some Collection<UInt8>, pieces: Int = .max, freeBytes: Int = 64 << 20
  ) throws(GzipError) -> [UInt8] {
    var reader = GzipReader(freeBytes: freeBytes)
    var text: [UInt8] = []
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      reader.append(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
      while let part = try reader.next() { text += part }
    }
    reader.finish()
    while let part = try reader.next() { text += part }
    return text
  }

  @Test(arguments: compressed.indices, [1, 2, 13, Int.max])
  func `gzip text is read in every form and in any pieces`(number: Int, pieces: Int) throws {
    #expect(try Self.read(Self.compressed[number], pieces: pieces) == Array(Self.text.utf8))
  }

  /// The decoder must also return the last bytes of a file, after which no others follow, and a
  /// file of a few bytes.
  @Test(arguments: compressed.indices.dropLast())
  func `gzip text is returned up to the place of a cut`(number: Int) throws {
    let bytes = Self.compressed[number]
    var longest = 0
    for end in 18..<bytes.count - 8 {
      var reader = GzipReader()
      reader.append(bytes.prefix(end))
      reader.finish()
      var text: [UInt8] = []
      #expect(throws: GzipError.self) { while let part = try reader.next() { text += part } }
      #expect(Array(Self.text.utf8).starts(with: text), "\(end)")
      longest = max(longest, text.count)
    }
    #expect(longest > 60)
  }

  /// The block's codes leave some sequences of bits without a meaning, which zlib refuses too.
  @Test func `gzip text with incomplete codes is refused`() {
    let block: [UInt8] = [5, 0x80, 0x81, 0, 0, 0, 0, 0x40, 0x5A, 0xFD, 0x4F, 0x80]
    var inflate = Inflate()
    var at = 0
    #expect(throws: Inflate.Fault.malformed) {
      _ = try inflate.next(block, &at, isFinished: true)
    }
  }

  @Test func `gzip text that is cut off or damaged is refused, and never traps`() throws {
    var random = SeededNumbers(salt: 0x621B)
    for compressed in Self.compressed.dropLast() {
      for count in 1..<compressed.count {
        #expect(throws: GzipError.self) { try Self.read(compressed.prefix(count)) }
      }
      for _ in 0..<300 {
        var bytes = Array(compressed)
        let at = random.below(bytes.count)
        bytes[at] ^= 1 << UInt8(random.below(8))
        // The checksum covers only the text. A changed header may still be valid.
        if let text = try? Self.read(bytes, pieces: 7) { #expect(text == Array(Self.text.utf8)) }
      }
    }
    for _ in 0..<2000 {
      let bytes = (0..<random.below(60)).map { _ in UInt8.random(in: 0...255, using: &random) }
      _ = try? Self.read(Array(Self.compressed[0].prefix(10)) + bytes, pieces: 5)
    }
    let trailing = Array(Self.compressed[0]) + Array("more".utf8)
    #expect(throws: GzipError.self) { try Self.read(trailing) }
  }

  @Test func `gzip text far larger than any text needs is refused`() throws {
    guard let gzip = Self.gzip(#"head -c 8000000 /dev/zero"#) else { return }
    do throws(GzipError) {
      _ = try Self.read(gzip, freeBytes: 1 << 20)
      Issue.record("8 MB of zeros were read")
    } catch {
      #expect(error.reason == .expandsTooMuch(limit: GzipReader.mostExpansion))
    }
  }

  @Test func `gzip text of some megabytes comes back unchanged`() throws {
    let command = #"awk 'BEGIN { for (i = 0; i < 200000; i++) print i, i * 7919 % 10007, "text" }'"#
    guard let gzip = Self.gzip(command), let plain = Self.output(command) else { return }
    #expect(plain.count > 2 << 20)
    for pieces in [4096, 1 << 20] {
      let text = try Self.read(gzip, pieces: pieces)
      #expect(text == Array(plain))
    }
  }

  @Test func `gzip text is recognized by its first bytes in a file of pages`() async throws {
    let folder = try TemporaryFolder()
    for number in Self.compressed.indices {
      let path = folder.path + "/p\(number)"
      try Self.compressed[number].write(to: URL(fileURLWithPath: path))
      try await withTemporaryStore([Measured.self]) { store in
        let importer = Importer(into: store, Measured.self, matching: .unique(\.k))
        let report = try await importer.run(FilePages.jsonLines(path), renaming: [:])
        #expect(report.inserted == 2, "\(report)")
        try Self.compressed[number].dropLast(3).write(to: URL(fileURLWithPath: path))
        guard number < Self.compressed.count - 1 else { return }
        let cut = try await importer.run(FilePages.jsonLines(path), renaming: [:])
        #expect(cut.unchanged == 2 && cut.rejected == 1 && cut.isCut, "\(cut)")
        // Without an importer, a loop over the pages throws the error.
        await #expect(throws: StoreError.self) { for try await _ in FilePages.jsonLines(path) {} }
        await #expect(throws: StoreError.self) { for try await _ in FilePages.json(path) {} }
      }
    }
  }

  /// The output of a command, compressed by gzip; `nil` with a message if there is no gzip.
  private static func gzip(_ command: String) -> Data? { output("\(command) | gzip -c") }

  private static func output(_ command: String) -> Data? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "command -v gzip awk >/dev/null && { \(command); }"]
    let pipe = Pipe()
    process.standardOutput = pipe
    guard (try? process.run()) != nil else { return nil }
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    if data.isEmpty { print("SKIPPED: a compressed file, because there is no gzip or awk") }
    return data.isEmpty ? nil : data
  }
}
