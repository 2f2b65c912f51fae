import Foundation
import Testing

@testable import EntityStore

@Suite struct `Pages of separated values` {
  private func page(_ value: String, _ type: CSVOptions.ColumnType) -> String? {
    var options = CSVOptions()
    options.types = ["n": type]
    let pages = CSVReading.pages(Array("n,o\n\(value),\n".utf8), options)
    switch pages {
    case .success(let pages):
      // The importer's parser accepts the written pages.
      for page in pages { #expect(throws: Never.self) { try JSONDocument.parsing(page.utf8) } }
      return pages.joined().replacing(#"[{"n":"#, with: "").replacing(#","o":null}]"#, with: "")
    case .failure(let error):
      #expect(error.reason == .wrongType(column: "n", type), "\(error)")
      #expect(error.position.line == 2 && error.position.column == 1)
      return nil
    }
  }

  @Test(
    arguments: [
      ("007", .text, #""007""#), ("007", .integer, "7"), ("007", .number, "7"),
      ("0", .integer, "0"),
      ("000", .integer, "0"), ("-012", .integer, "-12"), ("", .integer, "null"),
      ("9223372036854775807", .integer, "9223372036854775807"),
      ("18446744073709551615", .integer, "18446744073709551615"),
      ("18446744073709551616", .integer, nil), ("-9223372036854775809", .integer, nil),
      ("18446744073709551616", .number, nil),
      ("18446744073709551616.0", .number, "18446744073709551616.0"),
      ("1.50", .number, "1.50"), ("1.50", .integer, nil), ("5.0", .integer, nil),
      ("-00.10e+05", .number, "-0.10e+05"), ("1e400", .number, nil), ("1e-400", .number, nil),
      ("0e-400", .number, "0e-400"),
      ("0.1234567890123456789012345", .number, "0.1234567890123456789012345"),
      (".5", .number, "0.5"), ("-.50", .number, "-0.50"), (".", .number, nil),
      (".5", .integer, nil),
      ("5.", .number, nil), ("1e", .number, nil), ("-", .number, nil),
      ("+5", .integer, nil), (" 5", .integer, nil), ("5 ", .integer, nil), ("\"\"", .integer, nil),
      ("NaN", .number, nil), ("\"5\"", .integer, "5"), ("1_000", .integer, nil),
      ("٣", .integer, nil),
      ("true", .boolean, "true"), ("FALSE", .boolean, "false"), ("1", .boolean, "true"),
      ("0", .boolean, "false"), ("yes", .boolean, nil), ("", .boolean, "null"),
    ] as [(String, CSVOptions.ColumnType, String?)])
  func `pages of separated values convert a column exactly or not at all`(
    _ value: String, _ type: CSVOptions.ColumnType, _ expected: String?
  ) {
    #expect(page(value, type) == expected)
  }

  @Test func `pages of separated values show no value in an error`() {
    var options = CSVOptions()
    options.types = ["n": .integer]
    guard case .failure(let error) = CSVReading.pages(Array("n\nsecret\n".utf8), options) else {
      Issue.record("a word was taken for an integer")
      return
    }
    #expect(!"\(error)".contains("secret"))
  }

  @Test func `pages hold the requested number of rows, and the last page the rest`() {
    let text = Array("n\n1\n2\n3\n4\n5\n".utf8)
    let expected = [#"[{"n":"1"},{"n":"2"}]"#, #"[{"n":"3"},{"n":"4"}]"#, #"[{"n":"5"}]"#]
    #expect(CSVReading.pages(text, of: 2) == .success(expected))
    #expect(CSVReading.pages(text, of: 2, pieces: Array(0...text.count)) == .success(expected))
  }

  @Test func `pages end before the limit, and a longer single row is refused`() {
    var options = CSVOptions()
    options.limits.page = 20
    let text = "n\n1\n2\n3\n"
    #expect(
      CSVReading.pages(Array(text.utf8), options)
        == .success([#"[{"n":"1"}]"#, #"[{"n":"2"}]"#, #"[{"n":"3"}]"#]))
    guard
      case .failure(let error) = CSVReading.pages(Array((text + "12345678901234").utf8), options)
    else {
      Issue.record("a long row was taken")
      return
    }
    #expect(error.reason == .pageTooLong(limit: 20) && error.position.line == 5, "\(error)")
  }

  @Test func `pages continue without a row of a wrong type`() throws {
    var options = CSVOptions()
    options.types = ["n": .integer]
    var reader = CSVReader(options)
    reader.append(Array("n\n1\nx\n3\n".utf8))
    reader.finish()
    #expect(throws: CSVError.self) { try reader.nextPage(of: 10) }
    #expect(try reader.nextPage(of: 10) == Data(#"[{"n":1},{"n":3}]"#.utf8))
    #expect(try reader.nextPage(of: 10) == nil)
  }

  @Test(arguments: [1, 2, 1000]) func `pages refuse a text beyond a limit, however it arrives`(
    _ step: Int
  ) {
    var options = CSVOptions()
    options.header = .absent
    (options.limits.field, options.limits.row, options.limits.columns) = (8, 20, 4)
    let cases: [(String, CSVError.Reason?)] = [
      ("12345678,12345678\n", nil), ("123456789", .fieldTooLong(limit: 8)),
      ("a\n\"12345678\",b", nil), ("a,\"123456789\nb", .fieldTooLong(limit: 8)),
      ("1234567,1234567,1234567", .rowTooLong(limit: 20)), ("1,2,3,4", nil),
      ("1,2,3,4,5", .tooManyFields(limit: 4)),
      // If there are two faults, the one that comes first in the text is reported.
      ("12345678\"", .quoteInField), ("123456789\"", .fieldTooLong(limit: 8)),
      ("\"12345678\"x", .textAfterQuote), ("\"123456789\"x", .fieldTooLong(limit: 8)),
      ("\"1234567890123456789012", .fieldTooLong(limit: 8)),
      ("1234567,12345678,123456789", .rowTooLong(limit: 20)),
    ]
    for (text, reason) in cases {
      var ragged = options
      ragged.raggedRows = .fit
      let pieces = Array(stride(from: 0, to: text.utf8.count, by: step))
      let result = CSVReading.rows(Array(text.utf8), ragged, pieces: pieces)
      if case .failure(let error) = result {
        #expect(error.reason == reason, "\(text): \(error)")
      } else {
        #expect(reason == nil, "\(text) was taken")
      }
    }
  }
}
