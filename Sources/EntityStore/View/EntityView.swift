public import LodestoreBytes
public import LodestoreEssentials

// The only file that knows how views are kept from escaping. With the experimental feature
// `Lifetimes` they are `~Escapable`, and live as long as the closure that they are passed to.
// Without the feature, in older compilers, they are `~Copyable` and only borrowed. Such views are
// as safe but less convenient: a text can be used where it is read, but not stored in a `let`.
//
// Further members of views are in the files next to this one.

#if hasFeature(Lifetimes)
  /// One stored record of `E`, read in place: only attributes that are used are decoded.
  ///
  ///     try store.read { snapshot in
  ///       try snapshot.forEachView(Pod.all) { view in
  ///         if view.license == "MIT" { downloads += view.downloads }
  ///       }
  ///     }
  ///
  /// Attributes have the names of their properties. Numbers, `Bool`, `Date` and `UUID` are values.
  /// Text is a ``StoredText`` and `Data` a ``StoredBytes``, both still in the record. Enumerations,
  /// `URL`, `Decimal`, JSON and documents are decoded when they are read, which can throw. An
  /// optional attribute gives an optional. An attribute that a member of the view hides, or that
  /// `@Entity` leaves out because it is private, is read as `view[\.name]`.
  ///
  /// A view, and the texts and bytes it gives, cannot leave the closure that it is passed to; the
  /// compiler refuses this. Copies made by ``StoredText/string`` or ``StoredBytes/data`` own their
  /// bytes. Do not wait for anything while you have a view.
  ///
  /// Before the view is created, the record's shape is checked against its layout. If the store
  /// verifies checksums, the record's checksum is verified too. A record older than the entity's
  /// latest change is first converted to the current layout, which allocates. Any other record is
  /// viewed without an allocation.
  @dynamicMemberLookup
  public struct EntityView<E: Entity>: ~Escapable {
    @usableFromInline let record: ViewedRecord

    /// Creates a view.
    ///
    /// The caller must pass it to a closure that ends before the bytes change.
    @inline(__always) @_lifetime(immortal)
    init(_ record: ViewedRecord) { self.record = record }
  }

  /// The text of an attribute, still in its record.
  ///
  /// Equality and prefixes are those of `String`. Bytes that are not UTF-8 count as replacement
  /// characters, and `kvdump verify` reports them.
  public struct StoredText: ~Escapable {
    @usableFromInline let utf8: ByteView

    @inlinable @inline(__always) @_lifetime(copy view)
    init<E: Entity>(_ utf8: ByteView, of view: borrowing EntityView<E>) { self.utf8 = utf8 }

    /// The UTF-8 bytes of the text.
    @inlinable public var bytes: RawSpan {
      @_lifetime(copy self) get { _overrideLifetime(utf8.unsafeBytes.bytes, copying: self) }
    }
  }

  /// The `Data` of an attribute, still in its record.
  public struct StoredBytes: ~Escapable {
    @usableFromInline let content: ByteView

    @inlinable @inline(__always) @_lifetime(copy view)
    init<E: Entity>(_ content: ByteView, of view: borrowing EntityView<E>) {
      self.content = content
    }

    /// The bytes.
    @inlinable public var bytes: RawSpan {
      @_lifetime(copy self) get { _overrideLifetime(content.unsafeBytes.bytes, copying: self) }
    }
  }

  extension EntityView {
    /// The text of an attribute.
    @inlinable
    public subscript(
      dynamicMember path: KeyPath<E.Attributes, Attribute<E, String>>
    ) -> StoredText {
      @_lifetime(copy self) @inline(__always)
      get {
        StoredText(
          record.variable(slot(E.attributes[keyPath: path].ordinal, ViewedForm.text)), of: self
        )
      }
    }

    /// The text of an attribute; `nil` for null.
    @inlinable
    public subscript(
      dynamicMember path: KeyPath<E.Attributes, Attribute<E, String?>>
    ) -> StoredText? {
      @_lifetime(copy self) @inline(__always)
      get {
        let slot = slot(
          E.attributes[keyPath: path].ordinal, ViewedForm.text | ViewedForm.optional)
        return record.isNull(slot) ? nil : StoredText(record.variable(slot), of: self)
      }
    }

    /// The `Data` of an attribute.
    @inlinable
    public subscript(dynamicMember path: KeyPath<E.Attributes, Attribute<E, Data>>) -> StoredBytes {
      @_lifetime(copy self) @inline(__always)
      get {
        StoredBytes(
          record.variable(slot(E.attributes[keyPath: path].ordinal, ViewedForm.data)), of: self
        )
      }
    }

    /// The `Data` of an attribute; `nil` for null.
    @inlinable
    public subscript(
      dynamicMember path: KeyPath<E.Attributes, Attribute<E, Data?>>
    ) -> StoredBytes? {
      @_lifetime(copy self) @inline(__always)
      get {
        let slot = slot(
          E.attributes[keyPath: path].ordinal, ViewedForm.data | ViewedForm.optional)
        return record.isNull(slot) ? nil : StoredBytes(record.variable(slot), of: self)
      }
    }
  }
#else
  /// One stored record of `E`, read in place: only attributes that are used are decoded.
  ///
  /// Without the feature `Lifetimes`, a view is only borrowed: it cannot be copied, and a text is
  /// used where it is read.
  @dynamicMemberLookup
  public struct EntityView<E: Entity>: ~Copyable {
    @usableFromInline let record: ViewedRecord

    @inline(__always)
    init(_ record: ViewedRecord) { self.record = record }
  }

  /// The text of an attribute, still in its record.
  ///
  /// Equality and prefixes are those of `String`. Bytes that are not UTF-8 count as replacement
  /// characters, and `kvdump verify` reports them.
  public struct StoredText: ~Copyable {
    @usableFromInline let utf8: ByteView

    @inlinable @inline(__always)
    init<E: Entity>(_ utf8: ByteView, of view: borrowing EntityView<E>) { self.utf8 = utf8 }
  }

  /// The `Data` of an attribute, still in its record.
  public struct StoredBytes: ~Copyable {
    @usableFromInline let content: ByteView

    @inlinable @inline(__always)
    init<E: Entity>(_ content: ByteView, of view: borrowing EntityView<E>) {
      self.content = content
    }
  }

  extension EntityView {
    /// The text of an attribute.
    @inlinable
    public subscript(
      dynamicMember path: KeyPath<E.Attributes, Attribute<E, String>>
    ) -> StoredText {
      @inline(__always) _read {
        yield StoredText(
          record.variable(slot(E.attributes[keyPath: path].ordinal, ViewedForm.text)), of: self
        )
      }
    }

    /// The text of an attribute; `nil` for null.
    @inlinable
    public subscript(
      dynamicMember path: KeyPath<E.Attributes, Attribute<E, String?>>
    ) -> StoredText? {
      @inline(__always) _read {
        let slot = slot(
          E.attributes[keyPath: path].ordinal, ViewedForm.text | ViewedForm.optional)
        yield record.isNull(slot) ? nil : StoredText(record.variable(slot), of: self)
      }
    }

    /// The `Data` of an attribute.
    @inlinable
    public subscript(dynamicMember path: KeyPath<E.Attributes, Attribute<E, Data>>) -> StoredBytes {
      @inline(__always) _read {
        yield StoredBytes(
          record.variable(slot(E.attributes[keyPath: path].ordinal, ViewedForm.data)), of: self
        )
      }
    }

    /// The `Data` of an attribute; `nil` for null.
    @inlinable
    public subscript(
      dynamicMember path: KeyPath<E.Attributes, Attribute<E, Data?>>
    ) -> StoredBytes? {
      @inline(__always) _read {
        let slot = slot(
          E.attributes[keyPath: path].ordinal, ViewedForm.data | ViewedForm.optional)
        yield record.isNull(slot) ? nil : StoredBytes(record.variable(slot), of: self)
      }
    }
  }
#endif
