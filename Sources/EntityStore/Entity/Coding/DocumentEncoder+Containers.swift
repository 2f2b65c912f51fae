/// The encoder passed to a type's `encode(to:)`, which is also its single value container.
///
/// The struct has three words, so that it fits into an existential without an allocation.
struct DocumentValueEncoder: Encoder {
  let encoding: DocumentEncoding
  let level: Int
  let serial: Int

  var codingPath: [any CodingKey] { encoding.codingPath(to: level) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    encoding.open(.object, level, serial)
    return KeyedEncodingContainer(DocumentKeyedEncoding<Key>(value: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    encoding.open(.array, level, serial)
    return DocumentUnkeyedEncoding(value: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension DocumentValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try encoding.encodeSingleNull(level, serial) }

  func encode<T: Encodable>(_ value: T) throws { try encoding.encodeSingle(value, level, serial) }
}

/// Writes the members of one object.
struct DocumentKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let value: DocumentValueEncoder

  var codingPath: [any CodingKey] { value.codingPath }

  func encodeNil(forKey key: Key) throws {
    try value.encoding.encodeNullMember(key.stringValue, value.level, value.serial)
  }

  func encode<T: Encodable>(_ member: T, forKey key: Key) throws {
    try value.encoding.encodeMember(member, key.stringValue, value.level, value.serial)
  }

  private func nested(_ kind: DocumentEncoding.Frame.Kind, _ key: some CodingKey)
    -> DocumentValueEncoder
  {
    value.encoding.nested(kind, name: key.stringValue, value.level, value.serial).root
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    KeyedEncodingContainer(DocumentKeyedEncoding<NestedKey>(value: nested(.object, key)))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    DocumentUnkeyedEncoding(value: nested(.array, key))
  }

  func superEncoder() -> any Encoder { nested(.empty, PathKey.superclass) }
  func superEncoder(forKey key: Key) -> any Encoder { nested(.empty, key) }
}

/// Writes the elements of one array.
struct DocumentUnkeyedEncoding: UnkeyedEncodingContainer {
  let value: DocumentValueEncoder

  var codingPath: [any CodingKey] { value.codingPath }
  var count: Int { value.encoding.count(value.level, value.serial) }

  func encodeNil() throws { try value.encoding.encodeNullElement(value.level, value.serial) }

  func encode<T: Encodable>(_ element: T) throws {
    try value.encoding.encodeElement(element, value.level, value.serial)
  }

  private func nested(_ kind: DocumentEncoding.Frame.Kind) -> DocumentValueEncoder {
    value.encoding.nested(kind, name: nil, value.level, value.serial).root
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    KeyedEncodingContainer(DocumentKeyedEncoding<NestedKey>(value: nested(.object)))
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    DocumentUnkeyedEncoding(value: nested(.array))
  }

  func superEncoder() -> any Encoder { nested(.empty) }
}
