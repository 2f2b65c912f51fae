#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One page of JSON text, and the array of records in it.
struct JSONPage {
  private let number: Int
  /// The array.
  let array: JSONNode

  init(_ data: Data, number: Int, path: String) throws(StoreError) {
    self.number = number
    let document: JSONDocument
    do {
      document = try JSONDocument.parsing(data, limits: JSONLimits.standard.ofRecords)
    } catch {
      throw .pageNotJSON(page: number, error)
    }
    let node = path.isEmpty ? document.root : document.root[path: path]
    guard let node, node.kind == .array else {
      throw .pageWithoutRecords(
        page: number, path: path, found: node?.kindName ?? "nothing",
        hint: Self.way(toRecordsOf: document.root, from: path))
    }
    if document.hasEquivalentKeys, let error = document.equivalentKeyError(outside: [node]) {
      throw .pageNotJSON(page: number, error)
    }
    array = node
  }

  /// Where the records of a page may be that are not at `path`, in words.
  private static func way(toRecordsOf root: JSONNode, from path: String) -> String {
    guard root.kind == .object else {
      guard root.kind == .array else { return "" }
      return
        "; the page is an array itself: name no member, or, of a file whose lines are pages, make "
        + "the pages by FilePages.pagePerLine"
    }
    let arrays = root.members.filter { $0.value.kind == .array }.map(\.key)
    guard let first = arrays.first else { return "" }
    return "; did you mean '\(NearestName.of(path, among: arrays) ?? first)'?"
  }

  /// The records, in order.
  var records: JSONElements { array.elements }

  /// A decoding error in one line, without the type's name.
  static func reason(_ error: any Error) -> String {
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

  /// The attribute in which a decoding error lies; `nil` when it is the record.
  static func attribute(_ error: any Error) -> String? {
    let keys: [any CodingKey]? =
      switch error as? DecodingError {
      case .keyNotFound(let key, let context): context.codingPath + [key]
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .dataCorrupted(let context):
        context.codingPath
      default: nil
      }
    return keys.flatMap { $0.isEmpty ? nil : path($0) }
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
    page: Int, path: String, found: String, hint: String
  ) -> StoreError {
    let subject = path.isEmpty ? "the page" : "'\(path)'"
    return StoreError(
      .importStopped,
      "cannot import page \(page): \(subject) must be an array of records, found \(found)\(hint); "
        + "nothing of this page is kept, earlier pages are")
  }
}
