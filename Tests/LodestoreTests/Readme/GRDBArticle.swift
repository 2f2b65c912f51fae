#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the article ComingFromGRDB: the model that moves, and its calls.

  @Entity struct Station {
    #Unique<Station>([\.code])
    var code: String
    var name: String
    var altitude: Double?
    static let readings = ToMany<Station, Reading>(inverse: \.station, onDelete: .cascade)
    static let networks = ToMany<Station, Network>()
    @Derived(.count(Station.readings)) private(set) var readingCount = 0
  }

  @Entity struct Reading {
    #Unique<Reading>([\.station, \.takenAt])
    var takenAt: Date
    var celsius: Double
    var extra: JSONValue = .null
    @Relationship var station: Station.ID
  }

  @Entity struct Network {
    #Unique<Network>([\.name])
    var name: String
    static let stations = ToMany<Network, Station>(inverse: Station.networks)
  }

  struct StationDay {
    var station: String
    var mean: Double
    var highest: Double
  }

  struct WeatherBook {
    let store: Store

    init(at path: String) throws {
      store = try Store(at: path, entities: [Station.self, Reading.self, Network.self])
    }

    func take(_ readings: [Reading]) async throws -> Int {
      try await store.write { tx in
        try tx.insert(readings, onConflict: .replace).insertedCount
      }
    }

    func means(from start: Date, to end: Date) async throws -> [StationDay] {
      try await store.read { snapshot in
        let day = Reading.where { $0.takenAt.isIn(start..<end) }
        let groups = try snapshot.groups(
          day, by: \.station, .average(\.celsius), .maximum(\.celsius))
        return try groups.map { group in
          let station = try snapshot.fetch(group.key)
          return StationDay(
            station: station?.name ?? "", mean: group.values.0 ?? 0, highest: group.values.1 ?? 0)
        }
      }
    }

    func follow(_ network: String, show: ([Station]) -> Void) async throws {
      let stations = Station.where { $0.networks.any { $0.name == network } }.sorted(by: \.name)
      for try await update in store.updates(of: stations) { show(Array(update.items)) }
    }

    func takeOver(stations: String, readings: String) async throws -> [ImportReport] {
      var stationImporter = Importer(into: store, Station.self, matching: .unique(\.code))
      stationImporter.links = [
        .init("networks", Station.networks, by: \.name, makesMissing: true)
      ]
      let first = try await stationImporter.run(FilePages.jsonLines(stations), renaming: [:])
      let ids = try await store.read { snapshot in
        try Dictionary(
          uniqueKeysWithValues: snapshot.fetch(Station.all).map { ($0.code, $0.id) })
      }
      let readingImporter = Importer(
        into: store, Reading.self, matching: .unique(\.station, \.takenAt))
      let second = try await readingImporter.run(FilePages.jsonLines(readings)) {
        (line: ReadingLine) in
        ids[line.station].map {
          Reading(takenAt: line.takenAt, celsius: line.celsius, station: $0)
        }
      }
      return [first, second]
    }
  }

  struct ReadingLine: Decodable, Sendable {
    var station: String
    var takenAt: Date
    var celsius: Double
  }

  @Suite struct `The article on coming from GRDB` {
    private static let stations = """
      {"code":"S1","name":"Summit","altitude":2962,"networks":["mountain","snow"]}
      {"code":"S2","name":"Valley","altitude":420,"networks":["snow"]}

      """
    private static let readings = """
      {"station":"S1","takenAt":"2025-01-01T06:00:00Z","celsius":-10}
      {"station":"S1","takenAt":"2025-01-01T12:00:00Z","celsius":-4}
      {"station":"S2","takenAt":"2025-01-01T06:00:00Z","celsius":1}

      """

    @Test func `the programs of the article on GRDB run as described`() async throws {
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "weather-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let stations = folder.appending(path: "stations.jsonl")
      let readings = folder.appending(path: "readings.jsonl")
      try Self.stations.write(to: stations, atomically: true, encoding: .utf8)
      try Self.readings.write(to: readings, atomically: true, encoding: .utf8)
      let book = try WeatherBook(at: folder.appending(path: "weather.lodestore").path)
      defer { book.store.close() }

      var reports = try await book.takeOver(stations: stations.path, readings: readings.path)
      #expect(reports.map(\.inserted) == [2, 3])
      reports = try await book.takeOver(stations: stations.path, readings: readings.path)
      #expect(reports.map(\.unchanged) == [2, 3])

      let day = try #require(ISO8601DateFormatter().date(from: "2025-01-01T00:00:00Z"))
      let means = try await book.means(from: day, to: day.addingTimeInterval(86_400))
      #expect(means.map(\.station).sorted() == ["Summit", "Valley"])
      #expect(means.first { $0.station == "Summit" }?.mean == -7)
      let summit = try #require(try await book.store.fetch(Station.key(code: "S1")))
      #expect(summit.readingCount == 2)
      let later = Reading(takenAt: day.addingTimeInterval(90_000), celsius: 2, station: summit.id)
      #expect(try await book.take([later, later]) == 1)
      let shown = Task {
        try await book.follow("snow") { print($0.map(\.name)) }
      }
      try await Task.sleep(for: .milliseconds(50))
      shown.cancel()
      _ = await shown.result
    }
  }
#endif
