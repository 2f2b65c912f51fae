import EntityStore
import Foundation
import Testing

@Suite struct `Separated values of other kinds` {
  private func rows(
    _ text: some Sequence<UInt8>, pieces: [Int] = [], _ change: (inout CSVOptions) -> Void
  ) -> Result<[[String?]], CSVError> {
    var options = CSVOptions()
    options.header = .absent
    change(&options)
    let bytes = Array(text)
    var reader = CSVReader(options)
    var found: [[String?]] = []
    do throws(CSVError) {
      var start = 0
      for end in pieces + [bytes.count] {
        reader.append(bytes[start..<end])
        start = end
        while let row = try reader.next() { found.append((0..<row.count).map { row[$0] }) }
      }
      reader.finish()
      while let row = try reader.next() { found.append((0..<row.count).map { row[$0] }) }
      return .success(found)
    } catch {
      return .failure(error)
    }
  }

  @Test func `separated values without quotes keep quotes as characters`() {
    let text = "id\tt\n1\t\"starts\n2\tmiddle\n3\tends\"\n4\t\"\"\n"
    let found = rows(text.utf8) {
      $0.delimiter = .tab
      $0.quote = nil
    }
    #expect(
      found
        == .success([
          ["id", "t"], ["1", "\"starts"], ["2", "middle"], ["3", "ends\""], ["4", "\"\""],
        ]))
  }

  @Test func `separated values may use another quote`() {
    let found = rows("'a,b','it''s',\"\n".utf8) { $0.quote = .singleQuote }
    #expect(found == .success([["a,b", "it's", "\""]]))
  }

  @Test func `separated values have escapes in quotes and outside`() {
    let text =
      #""a \"b\" c",a\,b,\\n,x\ty,\N,"\N""# + "\n" + #"a\"# + "\n" + #"b,"1"# + "\\\n"
      + #"2",\n,\N,\N,c\"#
    let expected: [[String?]] = [
      [#"a "b" c"#, "a,b", #"\n"#, "x\ty", nil, "N"], ["a\nb", "1\n2", "\n", nil, nil, "c\\"],
    ]
    #expect(rows(text.utf8) { $0.escape = .backslash } == .success(expected))
    let count = text.utf8.count
    for cut in 0...count {
      let found = rows(text.utf8, pieces: [cut]) { $0.escape = .backslash }
      #expect(found == .success(expected), "\(cut)")
    }
    let other = rows("a^,b,^^,^n\n".utf8) { $0.escape = CSVCharacter("^") }
    #expect(other == .success([["a,b", "^", "n"]]))
    // Without the option for an escape, a backslash is an ordinary character.
    #expect(rows(#"\N,a\"#.utf8) { _ in } == .success([[#"\N"#, #"a\"#]]))
  }

  @Test func `separated values have several texts for null, except in quotes`() {
    let found = rows("NA,\\N,-,NULL,\"NA\",,na\n".utf8) { $0.nullValues = ["NA", "\\N", "-"] }
    #expect(found == .success([[nil, nil, nil, "NULL", "NA", nil, "na"]]))
  }

  @Test func `separated values may skip lines`() {
    let text = "a title, \"of\n\nk,v\n# a \"comment\n1,#2\n\"#3\",4\n#"
    let found = rows(text.utf8) {
      $0.skippedLines = 2
      $0.comment = .numberSign
    }
    #expect(found == .success([["k", "v"], ["1", "#2"], ["#3", "4"]]))
    for cut in 0...text.utf8.count {
      let same = rows(text.utf8, pieces: [cut]) {
        $0.skippedLines = 2
        $0.comment = .numberSign
      }
      #expect(same == found, "\(cut)")
    }
  }

  @Test func `separated values are read in another encoding`() {
    let text = "é,€\n😀,\"x\ny\"\n"
    let expected: [[String?]] = [["é", "€"], ["😀", "x\ny"]]
    let little = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    for cut in 0...little.count {
      #expect(
        rows(little, pieces: [cut]) { $0.encoding = .utf16LittleEndian } == .success(expected))
      #expect(rows(big, pieces: [cut]) { $0.encoding = .utf16BigEndian } == .success(expected))
      #expect(rows([0xFF, 0xFE] + little, pieces: [cut]) { _ in } == .success(expected), "\(cut)")
      #expect(rows([0xFE, 0xFF] + big, pieces: [cut]) { _ in } == .success(expected), "\(cut)")
    }
    #expect(
      rows([0xE9, 0x2C, 0x80, 0x0A]) { $0.encoding = .windows1252 } == .success([["é", "€"]]))
    #expect(rows([0xE9, 0x2C, 0x80]) { $0.encoding = .latin1 } == .success([["é", "\u{80}"]]))
  }

  @Test(arguments: [2, 4], [true, false])
  func `separated values in UTF-16 and UTF-32 are recognized by their first bytes`(
    size: Int, isLittle: Bool
  ) {
    func bytes(_ text: String) -> [UInt8] {
      let units = size == 2 ? text.utf16.map(UInt32.init) : text.unicodeScalars.map(\.value)
      return units.flatMap { unit in
        let little = (0..<size).map { UInt8(truncatingIfNeeded: unit >> UInt32(8 * $0)) }
        return isLittle ? little : little.reversed()
      }
    }
    let expected: [[String?]] = [["k", "€"], ["1", "😀"]]
    let text = bytes("k,€\n1,😀\n")
    for cut in 0...text.count {
      #expect(rows(text, pieces: [cut]) { _ in } == .success(expected), "\(cut)")
      let marked = rows(bytes("\u{FEFF}") + text, pieces: [cut]) { _ in }
      #expect(marked == .success(expected), "\(cut)")
    }
  }

  @Test func `separated values with a zero byte in the name of a column are refused`() {
    // The text is UTF-16 without a zero among its first four bytes, so its encoding is not
    // detected.
    var reader = CSVReader()
    reader.append("ии,b\n1,2\n".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
    reader.finish()
    let error = #expect(throws: CSVError.self) { try reader.next() }
    #expect(error?.reason == .zeroByte(inColumn: "\0b\0"))
  }

  @Test(
    arguments: [
      ([0x81, 0x0A], .windows1252), ([0x00, 0xD8, 0x61, 0x00], .utf16LittleEndian),
      ([0x61, 0x00, 0x62], .utf16LittleEndian), ([0xDC, 0x00], .utf16BigEndian),
      ([0xD8, 0x00], .utf16BigEndian), ([0xE9], .utf8),
    ] as [([UInt8], TextEncoding)])
  func `separated values with bytes outside of the encoding are refused`(
    bytes: [UInt8], encoding: TextEncoding
  ) {
    guard case .failure(let error) = rows(bytes, { $0.encoding = encoding }) else {
      Issue.record("\(bytes) were read")
      return
    }
    #expect(error.reason == .invalidUTF8)
  }

  @Test func `separated values with two meanings of one character are refused`() {
    guard
      case .failure(let error) = rows("a".utf8, { $0.quote = CSVCharacter(",") }),
      case .failure(let other) = rows("a".utf8, { $0.comment = .doubleQuote })
    else {
      Issue.record("they were read")
      return
    }
    #expect(error.reason == .twoMeanings(",") && other.reason == .twoMeanings("\""))
    for character in ["é", "\n", "\r\n", "\0"] as [Character] {
      #expect(CSVCharacter(character) == nil)
    }
  }

  @Test func `separated values between tabulators warn of a quoted field over several lines`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.path + "/p.tsv"
    let text = "k\tv\n1\t\"starts\n2\tmiddle\n3\tends\"\n4\tx\n5\t\"a\nb\"\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try await withTemporaryStore([Measured.self]) { store in
      let importer = Importer(into: store, Measured.self, matching: .unique(\.k))
      var options = CSVOptions()
      options.delimiter = .tab
      options.types = ["k": .integer]
      let report = try await importer.run(FilePages.csv(path, options), renaming: [:])
      #expect(report.inserted == 3 && report.warnings?.count == 1, "\(report)")
      #expect(report.warnings?.first?.hasPrefix("\(path): line 2: a quoted field") == true)
      #expect(
        try await store.read { try $0.importReports(of: "Measured") }.last?.warnings?.count == 1)
      options.quote = nil
      let plain = try await importer.run(FilePages.csv(path, options), renaming: [:])
      #expect(plain.warnings == nil && plain.inserted == 2, "\(plain)")
    }
  }
}
