import LodestoreBytes

/// A value of a valid document, read in its bytes.
///
/// A view needs no memory of its own, unlike a ``Document``. A search for a member passes all
/// members before it, so views suit objects with few members. The bytes must outlive the view.
package struct DocumentView {
  private let bytes: ByteView

  private init(_ bytes: ByteView) { self.bytes = bytes }

  /// Checks that the bytes are exactly one document that follows every rule.
  package init(validating bytes: ByteView) throws(FormatError) {
    try DocumentReader(bytes).validate()
    self.bytes = bytes
  }

  package var isObject: Bool { reader(of: .object) != nil }

  /// The member with a name; `nil` if it is absent or this is no object.
  package subscript(name: String) -> DocumentView? {
    guard var reader = reader(of: .object) else { return nil }
    return try? {
      for _ in 0..<(try reader.enterObject().count) {
        let found = try reader.name()
        if found.count == name.utf8.count, found.elementsEqual(name.utf8) {
          return DocumentView(try reader.value())
        }
        try reader.skip()
      }
      return nil
    }()
  }

  /// The elements of an array; `nil` for another value.
  package var elements: [DocumentView]? {
    guard var reader = reader(of: .array) else { return nil }
    return try? (0..<(try reader.enterArray().count)).map { _ in
      DocumentView(try reader.value())
    }
  }

  /// An integer up to `Int64.max`; `nil` for another value.
  package var integer: Int64? { read(.integer) { try $0.int64() } }

  /// A date in seconds since 2001-01-01T00:00:00Z; `nil` for another value.
  package var date: Double? { read(.date) { try $0.date() } }

  package var bool: Bool? { read(.bool) { try $0.bool() } }

  package var text: String? { read(.text) { try $0.string() } }

  package var data: ByteView? { read(.data) { try $0.data() } }

  /// A number of an entity, an attribute, an index or a relationship.
  package var number: UInt32? { integer.flatMap { UInt32(exactly: $0) } }

  private func read<T>(
    _ kind: DocumentReader.Kind, _ body: (inout DocumentReader) throws -> T
  ) -> T? {
    guard var reader = reader(of: kind) else { return nil }
    return try? body(&reader)
  }

  /// The reader at the value if the value is of a kind.
  private func reader(of kind: DocumentReader.Kind) -> DocumentReader? {
    let reader = DocumentReader(bytes)
    return (try? reader.kind()) == kind ? reader : nil
  }
}

extension [DocumentView] {
  /// The numbers of all elements if they ascend.
  var ascendingNumbers: [UInt32]? {
    var numbers: [UInt32] = []
    numbers.reserveCapacity(count)
    for element in self {
      guard let number = element.number, numbers.last.map({ $0 < number }) ?? true else {
        return nil
      }
      numbers.append(number)
    }
    return numbers
  }
}
