#if Vectors
  import BenchmarkFigures
  import EntityStore
  import Foundation

  /// Measures the search of the nearest vectors, and how many of them it finds.
  struct VectorBenchmark {
    private let arguments: Arguments
    private let directory: String
    private let file: VectorFile
    private let count: Int
    private var path: String { "\(directory)/vectors.lodestore" }

    init(_ arguments: Arguments, _ directory: String) throws {
      self.arguments = arguments
      self.directory = directory
      let path = arguments.file ?? "\(directory)/vectors.npy"
      if arguments.file == nil {
        let count = (arguments.records ?? 1_000_000) + arguments.queries
        try VectorFile.write(count, dimensions: 384, to: path)
      }
      file = try VectorFile(path)
      guard file.dimensions == 384, file.rowCount > 2 * arguments.queries else {
        throw BenchmarkError("\(path) has not enough vectors of 384 dimensions")
      }
      count = arguments.records ?? file.rowCount - arguments.queries
    }

    func run() throws {
      print("load: \(loadAverage)")
      let floats = UInt64(count * file.dimensions * 4)
      print("\(count.grouped) vectors of \(file.dimensions) dimensions, \(megabytes(floats))")
      let exact = try insert()
      let before = try size()
      let store = try timed("index", count) { try open() }
      let index = try size() - before
      let part = String(format: "%.1f %%", 100 * Double(index) / Double(floats))
      print("  index \(megabytes(index)), \(part) of the floats")
      try measure(store, exact)
      try measureUpdates(store)
      print("load at the end: \(loadAverage)")
    }

    private func size() throws -> UInt64 {
      try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64 ?? 0
    }

    private func options() -> StoreOptions {
      var options = StoreOptions()
      options.durability = .mayLoseLastCommit
      options.trust = .checkHeader
      return options
    }

    private func open() throws -> Store {
      try Store(at: path, entities: [Item.self], options: options())
    }

    /// Inserts all vectors; returns the ids of the nearest records of each query, without and with
    /// the condition on the group.
    private func insert() throws -> [[Int?: Set<UInt64>]] {
      let store = try Store(at: path, entities: [PlainItem.self], options: options())
      let queries = (0..<arguments.queries).map { file.query($0).values }
      var nearest = queries.map { _ in [nil: Nearest(), Self.group: Nearest()] as [Int?: Nearest] }
      for first in stride(from: 0, to: count, by: 50_000) {
        let items = (first..<min(count, first + 50_000)).map { index in
          PlainItem(file.record(index, except: queries.count), group: index % 100)
        }
        try store.insert(items)
        for (offset, item) in items.enumerated() {
          let factor = 1 / product(item.embedding.values, item.embedding.values).squareRoot()
          for (position, query) in queries.enumerated() {
            let distance = -product(item.embedding.values, query) * factor
            let id = UInt64(first + offset + 1)
            nearest[position][nil]?.add(distance, id)
            if item.group == Self.group { nearest[position][Self.group]?.add(distance, id) }
          }
        }
      }
      store.close()
      return nearest.map { $0.mapValues(\.ids) }
    }

    private static let group = 7

    private func product(_ a: [Float], _ b: [Float]) -> Float {
      a.withUnsafeBytes { a in
        b.withUnsafeBytes { b in
          var sum = SIMD8<Float>()
          for offset in stride(from: 0, to: a.count, by: 32) {
            sum +=
              a.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
              * b.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
          }
          return sum.sum()
        }
      }
    }

    private func measure(_ store: Store, _ exact: [[Int?: Set<UInt64>]]) throws {
      for (name, group) in [("all", nil), ("one of 100 groups", Self.group)] as [(String, Int?)] {
        for candidates in arguments.candidates {
          var times: [Double] = []
          var (right, sought) = (0, 0)
          for index in 0..<arguments.queries {
            let vector = file.query(index)
            var query = Item.where {
              $0.embedding.isNear(vector, by: .cosine, candidates: candidates)
            }
            .sortedByDistance().limit(Nearest.count)
            if let group { query = query.where { $0.group == group } }
            // Other programs on the machine do not change the processor time.
            let runs = try (0..<3).map { _ in
              let start = ProcessorTime.now
              let found = try store.fetch(query)
              return (ProcessorTime.now - start, found)
            }
            times.append(runs.map(\.0).min() ?? 0)
            right += exact[index][group]?.intersection(runs[0].1.map(\.id.rawValue)).count ?? 0
            sought += exact[index][group]?.count ?? 0
          }
          times.sort()
          print(
            "  \(Nearest.count) nearest of \(name), \(candidates.grouped) candidates: "
              + "median \(micros(times.part(0.5))), worst \(micros(times.last ?? 0)), "
              + String(format: "recall %.3f", Double(right) / Double(max(1, sought))))
          fflush(nil)
        }
      }
    }

    private func measureUpdates(_ store: Store) throws {
      let updates = min(500, count)
      try timed("update of one record in a write", updates) {
        for index in 0..<updates {
          try store.write { tx in
            let id = Item.ID(rawValue: UInt64(index * 7_919 % count + 1))
            guard var item = try tx.fetch(id) else { return }
            item.embedding = file.record(index * 31 % count, except: arguments.queries)
            try tx.update(item)
          }
        }
      }
    }
  }

  /// The records with the lowest distances.
  private struct Nearest {
    static let count = 10
    private var found: [(distance: Float, id: UInt64)] = []
    private var worst = Float.infinity

    var ids: Set<UInt64> { Set(found.map(\.id)) }

    mutating func add(_ distance: Float, _ id: UInt64) {
      guard distance < worst || found.count < Self.count else { return }
      found.append((distance, id))
      found.sort { $0.distance < $1.distance }
      if found.count > Self.count { found.removeLast() }
      if found.count == Self.count { worst = found.last?.distance ?? .infinity }
    }
  }
#endif
