import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Values that are no places` {
  private let invalid: [(latitude: Double, longitude: Double, attribute: String)] = [
    (90.000_001, 0, "latitude"), (-91, 0, "latitude"), (.nan, 0, "latitude"),
    (.infinity, 0, "latitude"), (0, 180.000_001, "longitude"), (0, -181, "longitude"),
    (0, .nan, "longitude"),
  ]

  @Test func `are refused by every way to write`() throws {
    try withTemporaryStore([Landing.self]) { store in
      try store.insert(Landing(1, 2))
      for (latitude, longitude, attribute) in invalid {
        let wrong = Landing(latitude, longitude)
        let writes: [(inout WriteTransaction) throws -> Void] = [
          { try $0.insert(wrong) },
          { try $0.insert([Landing(3, 4), wrong]) },
          { tx in
            for var one in try tx.fetch(Landing.all) {
              one.latitude = latitude
              one.longitude = longitude
              try tx.update(one)
            }
          },
        ]
        for write in writes {
          let error = #expect(throws: StoreError.self) { try store.write { try write(&$0) } }
          #expect(error?.code == .invalidValue)
          #expect(error?.message.contains("must be a \(attribute) from") == true, "\(error as Any)")
        }
      }
      #expect(try store.fetch(Landing.all).map(\.latitude) == [1])
    }
  }

  @Test func `are stored and not found when they are left out`() throws {
    try withTemporaryStore([Landing.self]) { store in
      try store.insert([
        Landing(1, 1, site: .init(lat: 91, lon: 0)), Landing(2, 2, site: .init(lat: 1, lon: nil)),
        Landing(3, 3, site: .init(lat: 90, lon: 180)), Landing(4, 4, site: .init(lat: 1, lon: 181)),
      ])
      let all = BoundingBox(south: -90, west: -180, north: 90, east: 180)
      #expect(try store.fetch(Landing.where { $0.site.isWithin(all) }).map(\.latitude) == [3])
      #expect(try store.count(Landing.all) == 4)
    }
  }

  @Test func `are left out when the index comes later`() throws {
    try withTemporaryPath { file in
      let before = try Store(at: file, entities: [PlainLanding.self])
      try before.insert([
        PlainLanding(91, 0), PlainLanding(1, 1), PlainLanding(nil, 0), PlainLanding(.nan, 0),
      ])
      before.close()
      let store = try Store(at: file, entities: [Landing.self])
      defer { store.close() }
      let near = Landing.all.where(.near(.init(latitude: 0, longitude: 0))).sortedByDistance()
      #expect(try store.fetch(near.limit(9)).map(\.latitude) == [1])
    }
  }

  @Test func `are refused in queries`() throws {
    let formats = [
      "SELF WITHIN {1, 2, 3}", "SELF WITHIN {2, 0, 1, 0}", "SELF WITHIN {0, 0, 91, 0}",
      "SELF WITHIN {0, -181, 1, 0}", "SELF NEAR {0}", "SELF NEAR {0, 0, -1}",
      "SELF NEAR {91, 0, 5}", "SELF NEAR 'x'", "SELF NEAR {'a', 0, 5}", "ANY SELF NEAR {0, 0, 5}",
      "group NEAR {0, 0, 5}", "missing NEAR {0, 0, 5}", "SELF NEAR latitude",
    ]
    try withTemporaryStore([Landing.self]) { store in
      for format in formats {
        let error = #expect(throws: StoreError.self, "\(format)") {
          try store.fetch(Landing.where(Condition(format: format)))
        }
        #expect(error?.code == .invalidQuery, "\(format)")
      }
      let distance = #expect(throws: StoreError.self) {
        try store.fetch(Landing.all.sortedByDistance())
      }
      #expect(distance?.code == .invalidQuery)
    }
  }

  @Test func `an entity without an index is refused with the index to declare`() throws {
    try withTemporaryStore([Film.self]) { store in
      let error = #expect(throws: StoreError.self) {
        try store.fetch(Film.all.where(.near(.init(latitude: 0, longitude: 0))))
      }
      #expect(error?.code == .invalidQuery)
      #expect(error?.message.contains("#Place<Film>") == true)
    }
  }
}
