import EntityStore
import Foundation
import Testing

private struct FireballRecord: Decodable {
  enum CodingKeys: String, CodingKey {
    case date, energy, lat, lon, alt, vel
    case impact = "impact-e"
    case latHalf = "lat-dir"
    case lonHalf = "lon-dir"
  }

  var date: String?, energy: String?, impact: String?, lat: String?, latHalf: String?
  var lon: String?, lonHalf: String?, alt: String?, vel: String?

  var fireball: Fireball? {
    Fireball(row: [date, energy, impact, lat, latHalf, lon, lonHalf, alt, vel])
  }
}

@Suite struct `Importing files` {
  @Test func `a file in columns and one of separated values give equal records`() async throws {
    var file = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { file.deleteLastPathComponent() }
    let path = file.appendingPathComponent("../shared/data/fireball/fireball-2026-05.json")
      .standardized.path
    guard FileManager.default.fileExists(atPath: path) else {
      print("SKIPPED: importing files, because there is no \(path)")
      return
    }
    let folder = try TemporaryFolder()
    let values = folder.path + "/fireballs.csv"
    try Self.writeValues(of: path, to: values)
    try await withTemporaryStore([Fireball.self]) { store in
      let importer = Importer(into: store, Fireball.self, matching: .unique(\.date))
      func run(_ pages: FilePages) async throws -> ImportReport {
        try await importer.run(pages, as: FireballRecord.self) { $0.fireball }
      }
      let first = try await run(.columns(path))
      #expect(first.pages == 1 && first.inserted + first.rejected == 1060, "\(first)")
      let second = try await run(.csv(values, recordsPerPage: 100))
      #expect(second.pages == 11 && second.inserted == 0, "\(second)")
      #expect(second.unchanged == first.inserted && second.rejected == first.rejected, "\(second)")
    }
  }

  @Test func `an import reads texts of separated values as the attributes' types`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/fireballs.csv"
    let text =
      "date,energy,impactEnergy,latitude,rest\na,1.5,007,,x\nb,2,-3,+4.25,y\nc,much,1,1,z\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try await withTemporaryStore([Fireball.self]) { store in
      let importer = Importer(into: store, Fireball.self, matching: .unique(\.date))
      for run in 0..<2 {
        let report = try await importer.run(FilePages.csv(path), renaming: [:])
        #expect(report.inserted == (run == 0 ? 2 : 0) && report.rejected == 1, "\(report)")
        #expect(report.rejects.first?.reason.contains("'energy'") == true, "\(report)")
      }
      let stored = try await store.fetch(Fireball.all.sorted(by: \.date))
      #expect(stored.map(\.energy) == [1.5, 2] && stored.map(\.impactEnergy) == [7, -3])
      #expect(stored.map(\.latitude) == [nil, 4.25])
    }
  }

  @Test func `an import rejects a row with a wrong quote`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/fireballs.csv"
    let rows = (1...25).map { $0 == 25 ? "x,\"1\"2,3" : "day \($0),1,2" }
    let text = "date,energy,impact-e\n" + rows.joined(separator: "\n")
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try await withTemporaryStore([Fireball.self]) { store in
      let importer = Importer(into: store, Fireball.self, matching: .unique(\.date))
      let pages = FilePages.csv(path, recordsPerPage: 10)
      let report = try await importer.run(pages, as: FireballRecord.self) { $0.fireball }
      let reject = try #require(report.rejects.first)
      #expect(report.inserted == 24 && report.rejected == 1 && reject.line == 26, "\(report)")
      #expect(reject.page == 3 && reject.record == 5 && reject.file == path)
      #expect(reject.content == Data("x,\"1\"2,3".utf8))
      // In a loop without an importer, the error of the row replaces its page.
      do {
        for try await _ in pages {}
        Issue.record("a wrong quote was read")
      } catch let error as StoreError {
        let cause = try #require(error.cause as? CSVError)
        #expect(error.code == .importStopped && cause.reason == .textAfterQuote)
        #expect(cause.position.line == 26 && cause.position.column == 6, "\(error)")
      }
    }
  }

  /// Writes the rows of a JSON page as separated values, with null as an empty field.
  private static func writeValues(of path: String, to values: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let page = try #require(JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    let fields = try #require(page["fields"] as? [String])
    let data = try #require(page["data"] as? [[Any]])
    let rows = data.map { row in row.map { ($0 as? String) ?? "" } }
    let text = ([fields] + rows).map { $0.joined(separator: ",") + "\r\n" }.joined()
    try Data(text.utf8).write(to: URL(fileURLWithPath: values))
  }
}
