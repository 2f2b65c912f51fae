@testable import EntityStore
import Foundation
import Testing

@Suite struct `A page in columns` {
  static let accepted: [(page: String, records: String)] = [
    (
      #"{"fields":["a","b"],"data":[[1,"x"],[null,true]]}"#,
      #"[{"a":1,"b":"x"},{"a":null,"b":true}]"#
    ),
    (
      #"{"signature":{"v":"1"},"count":"1","data":[[1.50]],"fields":["n"]}"#, #"[{"n":1.50}]"#
    ),
    (
      #"{"count":1,"fields":["n"],"data":[[12345678901234567890]]}"#,
      #"[{"n":12345678901234567890}]"#
    ),
    (#"{"fields":["n"],"data":[[0.10e+05]]}"#, #"[{"n":0.10e+05}]"#),
    (
      #"{"fields":["n","m"],"data":[[ {"x": [1, 2]} , "é\u0041"]]}"#,
      #"[{"n":{"x": [1, 2]},"m":"é\u0041"}]"#
    ),
    (#"{"fields":["\"q\""],"data":[[1]]}"#, #"[{"\"q\"":1}]"#),
    (#"{"fields":["a"],"data":[]}"#, "[]"),
    (#"{"fields":[],"data":[[],[]]}"#, "[{},{}]"),
    (#"{"signature":{},"count":"0"}"#, "[]"),
  ]

  @Test(arguments: accepted)
  func `a page in columns becomes an array of objects, with unchanged values`(
    _ page: String, _ records: String
  ) throws {
    let json = try ColumnPage(Data(page.utf8)).json()
    #expect(String(decoding: json, as: UTF8.self) == records)
  }

  static let refused: [(page: String, ColumnPageError.Reason)] = [
    ("[]", .notObject), (#"{"data":[]}"#, .noFields), (#"{"fields":"a","data":[]}"#, .noFields),
    (#"{"fields":["a",1],"data":[]}"#, .noFields), (#"{"fields":["a"]}"#, .noData),
    (#"{"fields":["a","a"],"data":[]}"#, .duplicateField("a")),
    (#"{"fields":["a"],"data":{}}"#, .noData),
    (#"{"fields":["a"],"data":[[1],2]}"#, .notRow(2)),
    (#"{"fields":["a"],"data":[[1],[2],[3,4]]}"#, .rowLength(row: 3, found: 2, expected: 1)),
    (#"{"fields":["a"],"data":[[]]}"#, .rowLength(row: 1, found: 0, expected: 1)),
    (#"{"count":2,"fields":["a"],"data":[[1]]}"#, .count(found: 2, rows: 1)),
    (#"{"count":"0","fields":["a"],"data":[[1]]}"#, .count(found: 0, rows: 1)),
    (#"{"count":null,"fields":["a"],"data":[]}"#, .badCount),
    (#"{"count":"-1","fields":["a"],"data":[]}"#, .badCount),
    (#"{"count":1.5,"fields":["a"],"data":[]}"#, .badCount), (#"{"count":"1"}"#, .noFields),
  ]

  @Test(arguments: refused) func `a page in columns that contradicts itself is refused whole`(
    _ page: String, _ reason: ColumnPageError.Reason
  ) {
    do {
      let records = try ColumnPage(Data(page.utf8))
      Issue.record("\(page) gave \(records)")
    } catch {
      #expect(error.reason == reason, "\(error)")
    }
  }

  @Test func `a page in columns that is no JSON is refused with its position`() {
    #expect {
      try ColumnPage(Data("{\n\"fields\": [}".utf8))
    } throws: { error in
      guard let error = error as? ColumnPageError, case .notJSON = error.reason else {
        return false
      }
      return error.position.line == 2 && error.position.column == 12
    }
  }

  @Test(arguments: [("2024-02", 973), ("2026-05", 1060), ("components-2024-02", 292)])
  func `a page of the fireball service equals a plain reading`(
    _ name: String, _ count: Int
  ) throws {
    var file = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { file.deleteLastPathComponent() }
    file = file.appendingPathComponent("../shared/data/fireball/fireball-\(name).json").standardized
    guard let bytes = try? Data(contentsOf: file) else {
      print("SKIPPED: a page in columns, because there is no \(file.path)")
      return
    }
    let page = try ColumnPage(bytes)
    let found = try #require(
      JSONSerialization.jsonObject(with: page.json()) as? [[String: Any]])
    let plain = try #require(JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    let fields = try #require(plain["fields"] as? [String])
    let data = try #require(plain["data"] as? [[Any]])
    #expect(page.fields == fields && page.count == count && data.count == count)
    #expect(found.count == count)
    for (record, row) in zip(found, data) {
      #expect(record.count == fields.count)
      for (field, value) in zip(fields, row) {
        #expect(record[field] as? String == value as? String)
        #expect((record[field] is NSNull) == (value is NSNull))
      }
    }
  }
}
