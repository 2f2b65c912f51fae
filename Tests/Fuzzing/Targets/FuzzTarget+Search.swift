import LodestoreBytes
import LodestoreFormat

@testable import EntityStore

extension FuzzTarget {
  private static let store = Specimen.makeStore()

  /// Texts of searches, which are never an error.
  ///
  /// The index and a reading of all texts find the same records. The marks in a text ascend.
  static let search = FuzzTarget("search", longestInput: 200) {
    [
      "abc", "\"a b\" -c", "text:x OR y*", "Ångström", "“é” z*", "note:\"a*b?\"", "tags:z -z",
      "e\u{301} a-b'c_dE1.2", "東京 ワー",
    ].map { [0] + Array($0.utf8) }
  } run: { bytes in
    var input = InputReader(bytes)
    let mode = [SearchMode.allWords, .anyWord, .typing][input.number(below: 3)]
    let text = String(decoding: input.rest, as: UTF8.self)
    try compareWays(text, mode)
    let highlighter = SearchHighlighter(text, mode)
    for marked in Specimen.samples.map(\.text) + [text] {
      var end = marked.startIndex
      for range in highlighter.ranges(in: marked) {
        require(range.lowerBound >= end && !range.isEmpty, "marks of \(text) in \(marked)")
        end = range.upperBound
      }
      require(highlighter.snippet(of: marked, length: 9).text.count <= 9, "a long snippet")
    }
  }

  private static func compareWays(_ text: String, _ mode: SearchMode) throws {
    try store.core.read { core in
      let entity = try core.entity(named: "Specimen")
      func ids(forcesScan: Bool, limit: Int?) throws -> [UInt64] {
        var request = QueryRequest().searching(text, mode)
        request.forcesScan = forcesScan
        request.limit = limit
        return try PlanRun(try core.plan(request, for: entity), core: core).ids()
      }
      let found = try ids(forcesScan: false, limit: 100)
      let scanned = try ids(forcesScan: true, limit: nil)
      require(Set(found) == Set(scanned), "'\(text)': \(found), by a scan \(scanned)")
    }
  }
}
