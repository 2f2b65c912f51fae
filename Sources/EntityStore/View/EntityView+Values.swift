extension EntityView {
  /// The record's id.
  @inlinable public var id: RecordID<E> { RecordID(rawValue: record.recordID) }

  // MARK: In place

  /// A number, a truth value, a date or a UUID.
  @inlinable @inline(__always)
  public subscript<V: SlotValue>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> V {
    let slot = slot(E.attributes[keyPath: path].ordinal, ViewedForm.slot(V.self))
    return V._value(inSlot: record.start + Int(slot.position))
  }

  /// A number, a truth value, a date or a UUID that may be null.
  @inlinable @inline(__always)
  public subscript<V: SlotValue>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V?>>
  ) -> V? {
    let slot = slot(
      E.attributes[keyPath: path].ordinal, ViewedForm.slot(V.self) | ViewedForm.optional)
    return record.isNull(slot) ? nil : V._value(inSlot: record.start + Int(slot.position))
  }

  // MARK: Decoded when asked for

  /// A value that is decoded; throws ``StoreError/Code/undecodableValue`` where it cannot be.
  ///
  /// Enumerations and `Codable` values are read in the same way; each may be optional.
  @inlinable
  public subscript<V: AttributeValue>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> V {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: V._storage)
      return try reader.read(V.self)
    }
  }

  /// An enumeration; throws when no case has the stored raw value.
  @inlinable
  @_documentation(visibility: internal)
  public subscript<V: RawRepresentable>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> V where V.RawValue: AttributeValue {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: V.RawValue._storage)
      return try reader.read(V.self)
    }
  }

  /// An enumeration that may be null; throws when no case has the stored raw value.
  @inlinable
  @_documentation(visibility: internal)
  public subscript<V: RawRepresentable>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V?>>
  ) -> V? where V.RawValue: AttributeValue {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: V.RawValue?._storage)
      return try reader.read(V?.self)
    }
  }

  /// An enumeration that is declared to be indexable; throws when no case has the stored raw value.
  @inlinable
  @_documentation(visibility: internal)
  public subscript<V: AttributeValue & RawRepresentable>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> V where V.RawValue: AttributeValue {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: V._storage)
      return try reader.read(V.self)
    }
  }

  /// An enumeration that is declared to be indexable and may be null; throws when no case has the
  /// stored raw value.
  @inlinable
  @_documentation(visibility: internal)
  public subscript<V: AttributeValue & RawRepresentable>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V?>>
  ) -> V? where V.RawValue: AttributeValue {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: V?._storage)
      return try reader.read(V?.self)
    }
  }

  /// An array, a dictionary or a nested struct; throws when the document is none.
  @inlinable @_disfavoredOverload
  @_documentation(visibility: internal)
  public subscript<V: Codable>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> V {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: .document)
      return try reader.read(V.self)
    }
  }

  /// An array, a dictionary or a nested struct that may be null; throws when the document is none.
  @inlinable @_disfavoredOverload
  @_documentation(visibility: internal)
  public subscript<V: Codable>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V?>>
  ) -> V? {
    @inline(__always) get throws(StoreError) {
      var reader = reader(at: E.attributes[keyPath: path].ordinal, of: .optionalDocument)
      return try reader.read(V?.self)
    }
  }

  /// The attribute at `path`, decoded; for entities that name no ``Entity/attributes``.
  ///
  /// Traps when `path` is no attribute.
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

  /// The whole record, as fetching it gives it.
  public func decoded() throws(StoreError) -> E {
    var reader = record.reader()
    return try E.read(from: &reader)
  }
}
