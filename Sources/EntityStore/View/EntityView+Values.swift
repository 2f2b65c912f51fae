extension EntityView {
  /// The record's id.
  @inlinable public var id: RecordID<E> { RecordID(rawValue: record.recordID) }

  // MARK: Values read in place

  /// The value of a number, a Boolean, a date or a UUID.
  @inlinable @inline(__always)
  public subscript<V: SlotValue>(dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>) -> V {
    let slot = slot(E.attributes[keyPath: path].ordinal, ViewedForm.slot(V.self))
    return V._value(inSlot: record.start + Int(slot.position))
  }

  /// The value of a number, a Boolean, a date or a UUID; `nil` for null.
  @inlinable @inline(__always)
  public subscript<V: SlotValue>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V?>>
  ) -> V? {
    let slot = slot(
      E.attributes[keyPath: path].ordinal, ViewedForm.slot(V.self) | ViewedForm.optional)
    return record.isNull(slot) ? nil : V._value(inSlot: record.start + Int(slot.position))
  }

  // MARK: Values decoded on access

  /// The decoded value of an attribute; throws ``StoreError/Code/undecodableValue`` if it cannot be
  /// decoded.
  ///
  /// Enumerations and `Codable` values are read in the same way. Each may be optional.
  @inlinable
  public subscript<V: AttributeValue>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> V {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: V._storage)
      return try reader.read(V.self)
    }
  }

  /// The value of an enumeration; throws if no case has the stored raw value.
  @inlinable @_documentation(visibility: internal)
  public subscript<V: RawRepresentable>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> V where V.RawValue: AttributeValue {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: V.RawValue._storage)
      return try reader.read(V.self)
    }
  }

  /// The value of an enumeration, `nil` for null; throws if no case has the stored raw value.
  @inlinable @_documentation(visibility: internal)
  public subscript<V: RawRepresentable>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V?>>
  ) -> V? where V.RawValue: AttributeValue {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: V.RawValue?._storage)
      return try reader.read(V?.self)
    }
  }

  /// The value of an enumeration declared as indexable; throws if no case has the stored raw value.
  @inlinable @_documentation(visibility: internal)
  public subscript<V: AttributeValue & RawRepresentable>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> V where V.RawValue: AttributeValue {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: V._storage)
      return try reader.read(V.self)
    }
  }

  /// The value of an enumeration declared as indexable, `nil` for null; throws if no case has the
  /// stored raw value.
  @inlinable @_documentation(visibility: internal)
  public subscript<V: AttributeValue & RawRepresentable>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V?>>
  ) -> V? where V.RawValue: AttributeValue {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: V?._storage)
      return try reader.read(V?.self)
    }
  }

  /// The value of an array, a dictionary or a nested struct; throws if the document cannot be
  /// decoded as such.
  @inlinable @_disfavoredOverload @_documentation(visibility: internal)
  public subscript<V: Codable>(dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>) -> V {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: .document)
      return try reader.read(V.self)
    }
  }

  /// The value of an array, a dictionary or a nested struct, `nil` for null; throws if the document
  /// cannot be decoded as such.
  @inlinable @_disfavoredOverload @_documentation(visibility: internal)
  public subscript<V: Codable>(dynamicMember path: KeyPath<E.Attributes, Attribute<E, V?>>) -> V? {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: .optionalDocument)
      return try reader.read(V?.self)
    }
  }

  /// The decoded value of the attribute at `path`, for entities that declare no
  /// ``Entity/attributes``.
  ///
  /// Traps if `path` is not an attribute.
  ///
  /// - Complexity: O(attributes), to find the attribute.
  public subscript<V: AttributeValue>(_ path: KeyPath<E, V>) -> V {
    get throws(StoreError) {
      guard let ordinal = E.schema.index(of: path) else {
        preconditionFailure("\(path) is no attribute of \(E.schema.name)")
      }
      var reader = reader(at: ordinal, of: V._storage)
      return try reader.read(V.self)
    }
  }

  /// Decodes the whole record, as a fetch does.
  public func decoded() throws(StoreError) -> E {
    var reader = record.reader()
    return try E.read(from: &reader)
  }
}
