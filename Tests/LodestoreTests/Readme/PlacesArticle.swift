#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the article Places.

  enum PlacesArticle {
    @Entity struct Fireball {
      #Place<Fireball>([\.latitude, \.longitude])

      var date: Date
      var energy: Double
      var latitude: Double?
      var longitude: Double?
    }

    @Entity struct Sighting {
      #Place<Sighting>([\.latitude, \.longitude], invalid: .leftOut)

      var latitude: Double
      var longitude: Double
    }

    struct Position: Codable, Hashable {
      var lat: Double
      var lon: Double
    }

    @Entity struct Flight {
      var start: Position
      var end: Position

      static let placeIndexes = [
        PlaceIndex<Flight>(.init(\.start, "lat"), .init(\.start, "lon")),
        PlaceIndex<Flight>(.init(\.end, "lat"), .init(\.end, "lon")),
      ]
    }

    static func printing(_ store: Store) throws {
      let chelyabinsk = Coordinate(latitude: 54.8, longitude: 61.1)
      let near = Fireball.where {
        $0.isNear(chelyabinsk, meters: 500_000); $0.energy > 1
      }
      .sortedByDistance().limit(10)
      for fireball in try store.fetch(near) {
        let place = Coordinate(latitude: fireball.latitude ?? 0, longitude: fireball.longitude ?? 0)
        print(fireball.date, chelyabinsk.distance(to: place))
      }
    }
  }

  @Suite struct `The article about places` {
    typealias Fireball = PlacesArticle.Fireball

    private let chelyabinsk = Coordinate(latitude: 54.8, longitude: 61.1)

    private func fireball(_ energy: Double, _ latitude: Double?, _ longitude: Double?) -> Fireball {
      Fireball(date: .distantPast, energy: energy, latitude: latitude, longitude: longitude)
    }

    @Test func `the nearest fireballs are first, and a map shows its own`() throws {
      let store = try Store.inMemory(entities: [Fireball.self])
      defer { store.close() }
      try store.insert([
        fireball(440, 54.8, 61.1), fireball(2, 55, 61), fireball(0.5, 54.9, 61.2),
        fireball(3, 56, 62), fireball(49, 56.9, 172.4), fireball(7, -20, 175),
        fireball(8, -30, -175), fireball(9, nil, nil),
      ])
      let near = Fireball.where {
        $0.isNear(chelyabinsk, meters: 500_000); $0.energy > 1
      }
      .sortedByDistance().limit(10)
      try PlacesArticle.printing(store)
      #expect(try store.fetch(near).map(\.energy) == [440, 2, 3])
      let nearest = Fireball.where { $0.isNear(chelyabinsk) }.sortedByDistance().limit(3)
      #expect(try store.fetch(nearest).map(\.energy) == [440, 0.5, 2])
      let map = BoundingBox(south: -50, west: 160, north: -10, east: -170)
      let shown = try store.fetch(Fireball.where { $0.isWithin(map) })
      #expect(shown.map(\.energy) == [7, 8])
      #expect(try store.count(Fireball.where { not($0.isNear(chelyabinsk)) }) == 1)
      let error = #expect(throws: StoreError.self) { try store.insert(fireball(1, 91, 0)) }
      #expect(error?.code == .invalidValue)
    }

    @Test func `values that are no places are left out where the declaration says so`() throws {
      typealias Sighting = PlacesArticle.Sighting
      let store = try Store.inMemory(entities: [Sighting.self])
      defer { store.close() }
      try store.insert([
        Sighting(latitude: 91, longitude: 0), Sighting(latitude: 1, longitude: 2),
      ])
      #expect(try store.fetch(Sighting.where { $0.isNear(chelyabinsk) }).map(\.latitude) == [1])
      #expect(try store.count(Sighting.all) == 2)
    }

    @Test func `an attribute names the place that is meant`() throws {
      typealias Flight = PlacesArticle.Flight
      let store = try Store.inMemory(entities: [Flight.self])
      defer { store.close() }
      let (here, away) = (
        PlacesArticle.Position(lat: 54.8, lon: 61.1), PlacesArticle.Position(lat: 0, lon: 0)
      )
      try store.insert([Flight(start: here, end: away), Flight(start: away, end: here)])
      let landings = Flight.where { $0.end.isNear(chelyabinsk, meters: 10_000) }
      #expect(try store.fetch(landings).map(\.start) == [away])
      #expect(
        try store.fetch(Flight.where { $0.isNear(chelyabinsk, meters: 9) }).map(\.end) == [away])
    }
  }
#endif
