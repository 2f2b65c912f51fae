#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One page of JSON text, and the array of records in it.
struct JSONPage {
  private let number: Int
  private let array: JSONNode

  init(_ data: Data, number: Int, path: String) throws(StoreError) {
    self.number = number
    let document: JSONDocument
    do {
      document = try JSONDocument.parsing(data)
    } catch {
      throw .pageNotJSON(page: number, error)
    }
    guard let node = path.isEmpty ? document.root : document.root[path: path] else {
      throw .pageWithoutRecords(page: number, path: path, found: "nothing")
    }
    guard node.kind == .array else {
      throw .pageWithoutRecords(page: number, path: path, found: node.kindName)
    }
    array = node
  }

  /// Decodes and transforms every record; one that cannot be is rejected alone.
  func records<E: Entity, Record: Decodable>(
    _ transform: (Record) throws -> E?
  ) -> PageRecords<E> {
    var records = PageRecords<E>()
    records.values.reserveCapacity(array.count)
    let decoder = JSONNodeDecoder()
    for (place, node) in array.elements.enumerated() {
      do {
        if let value = try transform(try decoder.decode(Record.self, from: node)) {
          records.values.append((place + 1, node.offset, value))
        }
      } catch {
        let found = JSONNodeDecoder.place(of: error, in: node)
        records.rejects.append(
          .init(
            page: number, record: place + 1, byteOffset: found.offset,
            reason: Self.reason(error)))
      }
    }
    return records
  }

  /// A decoding error in one line, without the type's name.
  private static func reason(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .keyNotFound(let key, let context):
      return "cannot decode \(path(context.codingPath + [key])): it is absent, and required"
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context):
      return context.debugDescription
    @unknown default: return "\(error)"
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }
}

extension StoreError {
  fileprivate static func pageNotJSON(page: Int, _ error: JSONError) -> StoreError {
    StoreError(
      .importStopped,
      "cannot import page \(page): \(error); nothing of this page is kept, earlier pages are",
      cause: error)
  }

  fileprivate static func pageWithoutRecords(
    page: Int, path: String, found: String
  ) -> StoreError {
    let place = path.isEmpty ? "the page" : "'\(path)'"
    return StoreError(
      .importStopped,
      "cannot import page \(page): \(place) must be an array of records, found \(found); nothing of "
        + "this page is kept, earlier pages are")
  }
}
