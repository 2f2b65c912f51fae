import LodestoreJSON

@testable import EntityStore

extension FuzzTarget {
  /// CSV: rows and pages do not depend on how the text arrives, and a page is JSON.
  static let separatedValues = FuzzTarget("csv", longestInput: 512) {
    let texts = [
      "\u{0}name,mass\nA,1\nB,\"2 \"\"x\"\"\"\r\n", "\u{1}a;b\n\n\"c\nd\";é\n",
      "\u{2}\u{FEFF}a,b,c\n1\n1,2,3,4\n",
      "\u{3}x\ty\r\n1\t2\r\n", "\u{14}a,b\n007,true\n",
    ]
    return texts.map { Array($0.utf8) }
  } run: { bytes in
    var input = InputReader(bytes)
    let choice = input.byte()
    var options = CSVOptions()
    options.delimiter = [.comma, .semicolon, .comma, .tab][Int(choice & 3)]
    options.header = choice & 4 == 0 ? .firstRow : .absent
    options.raggedRows = [.refuse, .fill, .fit][Int(choice >> 3) % 3]
    options.skipsBlankLines = choice & 64 != 0
    if choice & 128 != 0 { options.types = ["a": .integer, "b": .boolean, "mass": .number] }
    options.limits.field = 100
    options.limits.row = 160
    options.limits.columns = 12
    let text = Array(input.rest)
    func rows(_ reader: inout CSVReader) throws(CSVError) -> [String]? { try reader.next()?.fields }
    func page(_ reader: inout CSVReader) throws(CSVError) -> [UInt8]? {
      try reader.nextPage(of: 2).map { Array($0) }
    }
    let whole = collect(text, options, piece: text.count, rows)
    let pieces = collect(text, options, piece: 5, rows)
    require("\(whole)" == "\(pieces)", "\(whole) and in pieces \(pieces)")
    let pages = collect(text, options, piece: text.count, page)
    let pagesOfPieces = collect(text, options, piece: 3, page)
    require(pages.found == pagesOfPieces.found, "\(pages) and in pieces \(pagesOfPieces)")
    for page in pages.found {
      do { _ = try JSONDocument.parsing(page) } catch {
        require(false, "the page \(String(decoding: page, as: UTF8.self)) is no JSON: \(error)")
      }
    }
  }

  private static func collect<T>(
    _ text: [UInt8], _ options: CSVOptions, piece: Int,
    _ next: (inout CSVReader) throws(CSVError) -> T?
  ) -> (found: [T], failure: String?) {
    var reader = CSVReader(options)
    var found: [T] = []
    do throws(CSVError) {
      var rest = text[...]
      while !rest.isEmpty {
        reader.append(Array(rest.prefix(max(piece, 1))))
        rest = rest.dropFirst(max(piece, 1))
        while let item = try next(&reader) { found.append(item) }
      }
      reader.finish()
      while let item = try next(&reader) { found.append(item) }
      return (found, nil)
    } catch {
      return (found, "\(error)")
    }
  }
}
