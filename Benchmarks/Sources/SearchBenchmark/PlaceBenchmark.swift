#if Search
  import BenchmarkFigures
  import EntityStore
  import Foundation

  /// Compares queries of places with SQLite's R*Tree, on the same points in one process.
  struct PlaceBenchmark {
    private struct Arguments {
      var points = 1_000_000
      var queries = 400
      var checks = 100_000

      static let usage = """
        usage: tools/bench --places [--points=N] [--queries=N] [--checks=N]

          --points=N     the number of points; 1,000,000
          --queries=N    the median of N queries of each kind; 400
          --checks=N     compares N random queries with a scan of 2,000 points; 100,000
        """

      init(_ arguments: [String]) throws {
        for option in try BenchmarkOption.all(in: arguments, of: "--places", usage: Self.usage) {
          switch option.name {
          case "--points": points = try option.number()
          case "--queries": queries = try option.number()
          case "--checks": checks = try option.number()
          default: throw option.refusal
          }
        }
      }
    }

    private let arguments: Arguments
    private let directory: String
    private var random = SystemRandomNumberGenerator()

    static let usage = Arguments.usage

    init(_ arguments: [String], _ directory: String) throws {
      self.arguments = try Arguments(arguments)
      self.directory = directory
    }

    mutating func run() throws {
      print("load: \(loadAverage)")
      try check()
      let points = (0..<arguments.points).map { _ in point() }
      let store = try Store(at: "\(directory)/places.lodestore", entities: [BenchedPlace.self])
      try timed("insert with a place index", points.count) {
        try store.insert(points.map { BenchedPlace($0) })
      }
      let sqlite = try SQLitePlaces("\(directory)/places.sqlite")
      try timed("SQLite: insert with an R*Tree", points.count) { try sqlite.insert(points) }
      for (name, height, width) in [("1 by 2 degrees", 1.0, 2.0), ("10 by 20 degrees", 10, 20)] {
        let boxes = (0..<arguments.queries).map { _ in box(height, width) }
        var found = [0, 0]
        try compare(
          "ids in a box of \(name)",
          store: { index in
            found[0] += try store.read { try $0.ids(within(boxes[index])) }.count
          },
          sqlite: { found[1] += try sqlite.ids(in: boxes[$0]).count })
        print("    \(found[0] / (2 * arguments.queries)) records in a box")
        try expectEqual(found[0], found[1], "records in boxes")
      }
      let centers = (0..<arguments.queries).map { _ in point() }
      // A box around the ten nearest is not known. The box here has about forty points.
      let half = 180 * (20 / Double(arguments.points)).squareRoot()
      try compare(
        "the 10 nearest",
        store: { index in
          let query = BenchedPlace.all.where(.near(centers[index])).sortedByDistance()
          _ = try store.read { try $0.ids(query.limit(10)) }
        },
        sqlite: { _ = try sqlite.nearest(to: centers[$0], half: half) })
      print("load at the end: \(loadAverage)")
    }

    // MARK: Values

    /// A point: three of four around one of a hundred towns, the others anywhere.
    private mutating func point() -> Coordinate {
      let town = Int.random(in: 0..<400, using: &random)
      guard town < 300 else {
        return Coordinate(
          latitude: .random(in: -90...90, using: &random),
          longitude: .random(in: -180...180, using: &random))
      }
      func around(_ middle: Double, _ random: inout SystemRandomNumberGenerator) -> Double {
        middle + (0..<4).reduce(0) { sum, _ in sum + .random(in: -2...2, using: &random) }
      }
      let (row, column) = (Double(town % 10), Double(town % 100 / 10))
      return Coordinate(
        latitude: around(-72 + row * 16, &random), longitude: around(-162 + column * 36, &random))
    }

    private mutating func box(_ height: Double, _ width: Double) -> BoundingBox {
      let middle = point()
      let (south, west) = (
        min(max(middle.latitude - height / 2, -90), 90 - height),
        min(max(middle.longitude - width / 2, -180), 180 - width)
      )
      return BoundingBox(south: south, west: west, north: south + height, east: west + width)
    }

    private func within(_ box: BoundingBox) -> Query<BenchedPlace> {
      BenchedPlace.all.where(.within(box))
    }

    private func expectEqual(_ a: Int, _ b: Int, _ name: String) throws {
      // The R*Tree has numbers of four bytes, so it finds some points more at the borders.
      guard abs(a - b) <= 1 + b / 1_000 else { throw BenchmarkError("\(a) and \(b) \(name)") }
    }

    // MARK: Correctness

    /// Compares queries with a scan of points, some at the poles and on both sides of the meridian
    /// 180.
    private mutating func check() throws {
      var points = (0..<1_400).map { _ in point() }
      for _ in 0..<200 {
        let longitude = Double.random(in: -180...180, using: &random)
        let far = Double.random(in: 0...1e-3, using: &random)
        let latitude = Double.random(in: -90...90, using: &random)
        points += [
          Coordinate(latitude: 90 - far, longitude: longitude),
          Coordinate(latitude: far - 90, longitude: longitude),
          Coordinate(latitude: latitude, longitude: latitude < 0 ? 180 - far : far - 180),
        ]
      }
      let path = "\(directory)/checked.lodestore"
      let store = try Store(at: path, entities: [BenchedPlace.self])
      try store.insert(points.map { BenchedPlace($0) })
      func expect(_ ids: [BenchedPlace.ID], _ isWanted: (Coordinate) -> Bool, _ what: Any) throws {
        let wanted = points.indices.filter { isWanted(points[$0]) }
        guard ids.map({ Int($0.rawValue) - 1 }) == wanted else {
          throw BenchmarkError("\(ids.count) places are found and \(wanted.count) wanted: \(what)")
        }
      }
      try timed("queries compared with a scan", arguments.checks) {
        for number in 0..<arguments.checks {
          let middle = points[Int.random(in: 0..<points.count, using: &random)]
          let size = pow(10, Double.random(in: -4...2.2, using: &random))
          let meters = size * 111_000
          switch number % 3 {
          case 0:
            let east = middle.longitude + size
            let box = BoundingBox(
              south: max(-90, middle.latitude - size), west: middle.longitude,
              north: min(90, middle.latitude + size), east: east > 180 ? east - 360 : east)
            try expect(try store.read { try $0.ids(within(box)) }, box.contains, box)
          case 1:
            let near = BenchedPlace.all.where(.near(middle, meters: meters))
            try expect(
              try store.read { try $0.ids(near) }, { middle.distance(to: $0) <= meters },
              (middle, meters))
          default:
            let near = BenchedPlace.all.where(.near(middle)).sortedByDistance().limit(10)
            let found = try store.read { try $0.ids(near) }.map {
              middle.distance(to: points[Int($0.rawValue) - 1])
            }
            guard found == Array(points.map(middle.distance).sorted().prefix(10)) else {
              throw BenchmarkError("other places are nearest to \(middle)")
            }
          }
        }
      }
    }

    // MARK: Queries

    private func compare(
      _ name: String, store: (Int) throws -> Void, sqlite: (Int) throws -> Void
    ) rethrows {
      func times(_ body: (Int) throws -> Void) rethrows -> [Double] {
        for index in 0..<min(20, arguments.queries) { try body(index) }
        return try (0..<arguments.queries).map { index in
          let start = ProcessorTime.now
          try body(index)
          return ProcessorTime.now - start
        }.sorted()
      }
      let (ours, others) = (try times(store), try times(sqlite))
      for (side, times) in [("Lodestore", ours), ("R*Tree", others)] {
        print(
          "  \(name), \(side): median \(micros(times.part(0.5))), 99 % \(micros(times.part(0.99)))")
      }
      print(String(format: "    %.1f times faster", others.part(0.5) / max(1e-9, ours.part(0.5))))
    }
  }
#endif
