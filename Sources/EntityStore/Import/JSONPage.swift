internal import LodestoreEssentials

/// The place of the records in a page.
struct RecordPlace: Sendable {
  /// The path to the array or object of the records; empty for the page itself.
  var path: String
  /// The member name for the records' keys, when the records are the members of an object.
  var keyName: String?
}

/// One page of JSON text, with the place of its records.
struct JSONPage {
  /// The array of records, or the object whose member values are the records.
  let container: JSONNode

  init(_ data: Data, number: Int, at place: RecordPlace) throws(StoreError) {
    let document: JSONDocument
    do {
      document = try JSONDocument.parsing(data, limits: JSONLimits.standard.ofRecords)
    } catch {
      throw .pageNotJSON(page: number, error)
    }
    let node = place.path.isEmpty ? document.root : document.root[path: place.path]
    let kind: JSONNode.Kind = place.keyName == nil ? .array : .object
    guard let node, node.kind == kind else {
      throw .pageWithoutRecords(
        page: number, at: place, found: node?.kindName ?? "nothing",
        hint: place.keyName == nil ? Self.hint(forRecordsOf: document.root, from: place.path) : "")
    }
    container = node
    if document.hasFaults, let error = document.faultError(outside: records) {
      throw .pageNotJSON(page: number, error)
    }
  }

  /// A suggestion for error messages: other places of the page where the records may be.
  private static func hint(forRecordsOf root: JSONNode, from path: String) -> String {
    guard root.kind == .object else {
      guard root.kind == .array else { return "" }
      return
        "; the page is an array itself: name no member, or, of a file whose lines are pages, make "
        + "the pages by FilePages.pagePerLine"
    }
    let arrays = root.members.filter { $0.value.kind == .array }.map(\.key)
    guard let first = arrays.first else {
      let object = path.isEmpty ? root : root[path: path] ?? root
      guard object.memberValues.contains(where: { $0.kind == .object }) else { return "" }
      return "; where the records are the members of an object, give the importer a keyName"
    }
    return "; did you mean '\(NearestName.of(path, among: arrays) ?? first)'?"
  }

  /// The records, in order.
  var records: JSONElements {
    container.kind == .object ? container.memberValues : container.elements
  }

  /// The decoding error in one line, without the type's name.
  static func reason(_ error: any Error) -> String {
    (error as? DecodingError)?.reason ?? "\(error)"
  }

  /// The attribute in which a decoding error occurred; `nil` for the record as a whole.
  static func attribute(_ error: any Error) -> String? {
    let keys: [any CodingKey]? =
      switch error as? DecodingError {
      case .keyNotFound(let key, let context): context.codingPath + [key]
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .dataCorrupted(let context):
        context.codingPath
      default: nil
      }
    return keys.flatMap { $0.isEmpty ? nil : $0.dotted }
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
    page: Int, at place: RecordPlace, found: String, hint: String
  ) -> StoreError {
    let subject = place.path.isEmpty ? "the page" : "'\(place.path)'"
    let wanted =
      place.keyName == nil ? "an array of records" : "an object whose members are the records"
    return StoreError(
      .importStopped,
      "cannot import page \(page): \(subject) must be \(wanted), found \(found)\(hint); "
        + "nothing of this page is kept, earlier pages are")
  }
}
