package import LodestoreFormat

/// Puts records of an entity together, attribute by attribute, without a Swift type.
///
/// One for many records of one entity; not for two threads at once.
package final class RecordAssembly {
  package let entity: StoredEntity
  package let attributes: [EntityDescription.Attribute]
  package private(set) var values: [Value]
  package private(set) var isGiven: [Bool]
  private let absent: [Value?]
  private var writer = RecordWriter()

  package init(_ entity: StoredEntity) {
    self.entity = entity
    attributes = entity.description.declaredAttributes
    values = Array(repeating: .null, count: attributes.count)
    isGiven = Array(repeating: false, count: attributes.count)
    absent = attributes.map { $0.initial == .null && !$0.isOptional ? nil : $0.initial }
  }

  /// Begins a record.
  package func begin() {
    for place in isGiven.indices { isGiven[place] = false }
  }

  /// Gives the attribute at `place` a value that fits it.
  package func give(_ value: Value, at place: Int) {
    values[place] = value
    isGiven[place] = true
  }

  package func takeBack(_ place: Int) { isGiven[place] = false }

  /// The first attribute that must be given to a new record and is not; where a program's type declares
  /// a part of the attributes, one of these.
  package var missing: EntityDescription.Attribute? {
    for place in absent.indices
    where !isGiven[place] && absent[place] == nil && entity.part?.isGiven[place] ?? true {
      return attributes[place]
    }
    return nil
  }

  /// The content, with room for its checksum behind it, valid until the next call.
  ///
  /// An attribute that was not given has its initial value or null; a required one without an
  /// initial value has zero or nothing in it, which only a merge that takes given attributes may
  /// see.
  package func content() -> UnsafeRawBufferPointer {
    for place in isGiven.indices where !isGiven[place] {
      values[place] = absent[place] ?? .placeholder(of: attributes[place].type)
    }
    for isWide in [false, true] {
      writer.begin(entity.layout, isWide: isWide)
      for (place, attribute) in entity.layout.attributes.enumerated() {
        writer.write(values[place], as: attribute)
      }
      if let content = writer.finish(entity.layout, entity: entity.name) {
        return UnsafeRawBufferPointer(content)
      }
    }
    preconditionFailure("a record fits wide offsets")
  }
}

extension Value {
  /// A value of `type` that means nothing.
  static func placeholder(of type: AttributeType) -> Value {
    switch type {
    case .bool: .bool(false)
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .recordID: .integer(0)
    case .float, .double: .double(0)
    case .date: .date(0)
    case .uuid: .uuid(UUIDBytes(high: 0, low: 0))
    case .decimal: .decimal(DecimalValue(isNegative: false, exponent: 0, significand: 0))
    case .string, .url: .string("")
    case .data: .data([])
    case .json, .document: .document(DocumentWriter.null)
    }
  }
}

extension DocumentWriter {
  fileprivate static var null: [UInt8] {
    var writer = DocumentWriter()
    writer.writeNull()
    return writer.bytes
  }
}
