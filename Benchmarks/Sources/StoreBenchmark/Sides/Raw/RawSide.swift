import BenchmarkFigures
import CRawLMDB
import CRecords

/// A side that is an engine in C.
struct RawSide: Side {
  let name: String
  let workload: Workload
  let engine: raw_engine
  let mapSize: Int

  func open(_ path: String) throws -> any SideStore {
    var handle: OpaquePointer?
    let code = engine.open(path, mapSize, &handle)
    guard code == 0, let handle else {
      throw BenchmarkError("\(name) cannot open \(path): \(RawStore.text(code, engine))")
    }
    return RawStore(self, handle)
  }
}

/// A store of an engine.
///
/// Only one thread may use it at a time.
final class RawStore: SideStore {
  let side: RawSide
  // Safe without synchronization, because only one thread uses the handle at a time.
  nonisolated(unsafe) private let handle: OpaquePointer

  fileprivate init(_ side: RawSide, _ handle: OpaquePointer) {
    self.side = side
    self.handle = handle
  }

  func close() { side.engine.close(handle) }

  func everything() throws -> Answer {
    guard let fetchAll = side.engine.fetch_all else { throw BenchmarkError("no scan") }
    return try answer { fetchAll($0, $1) }.answer
  }

  func reader() throws -> RawStore {
    var reader: OpaquePointer?
    try check(side.engine.open_reader(handle, &reader))
    guard let reader else { throw BenchmarkError("\(side.name): no reader") }
    return RawStore(side, reader)
  }

  func insert(_ place: Int) throws {
    try check(side.engine.insert_pod(handle, side.workload.rawSingles.base + place))
  }

  typealias Body = (OpaquePointer, UnsafeMutablePointer<raw_answer>) -> Int32

  /// Runs a function of the engine.
  ///
  /// The returned object owns the found records.
  @discardableResult
  func answer(_ body: Body) throws -> RawAnswer {
    let found = RawAnswer()
    try check(body(handle, &found.content))
    return found
  }

  func timed(_ body: @escaping Body) -> Work {
    .timed {
      let found = try self.answer(body)
      return { found.answer }
    }
  }

  private func check(_ code: Int32) throws {
    guard code == 0 else { throw BenchmarkError("\(side.name): \(Self.text(code, side.engine))") }
  }

  fileprivate static func text(_ code: Int32, _ engine: raw_engine) -> String {
    engine.error_text(code).map { String(cString: $0) } ?? "code \(code)"
  }
}

/// The answer of an engine, freed with its last reference.
final class RawAnswer {
  var content = raw_answer()

  deinit { raw_free_answer(&content) }

  var answer: Answer {
    Answer(
      count: content.count,
      hash: content.pod_count + content.item_count > 0 ? raw_hash_answer(&content) : content.sum)
  }
}
