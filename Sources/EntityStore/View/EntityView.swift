public import LodestoreBytes
public import LodestoreEssentials

// The one file that knows how views are kept from escaping. With the experimental feature `Lifetimes`
// they are `~Escapable`, as long as the closure that they are passed to. Without it, in older
// compilers, they are `~Copyable` and only ever borrowed, which ends them as surely and is less handy:
// a text can be used where it is read, not put into a `let`.
//
// What views can do beside giving out other views is in the files next to this one.

#if hasFeature(Lifetimes)
  /// One stored record of `E`, read where it lies: nothing is decoded that is not asked for.
  ///
  ///     try store.read { snapshot in
  ///       try snapshot.forEachView(Pod.all) { view in
  ///         if view.license == "MIT" { downloads += view.downloads }
  ///       }
  ///     }
  ///
  /// Attributes have the names of their properties. Numbers, `Bool`, `Date` and `UUID` are values;
  /// text is a ``StoredText`` and `Data` a ``StoredBytes``, both still in the record; enumerations,
  /// `URL`, `Decimal`, JSON and documents are decoded when they are read, which can throw. An optional
  /// attribute gives an optional. An attribute that a member of the view hides, and one that `@Entity`
  /// leaves out because it is private, is `view[\.name]`.
  ///
  /// A view and what it gives out of the record cannot leave the closure that it is passed to: the
  /// compiler refuses it. What has been taken out with ``StoredText/string`` or
  /// ``StoredBytes/data`` owns its bytes. Do not wait for anything while you have a view.
  ///
  /// The record has been checked to have the shape of its layout, and its checksum where the store
  /// verifies checksums, before the view is made. A record that is older than the entity's latest
  /// change is carried over first, which allocates; any other is viewed without.
  @dynamicMemberLookup
  public struct EntityView<E: Entity>: ~Escapable {
    @usableFromInline let record: ViewedRecord

    /// Whoever makes a view passes it to a closure, which ends before the bytes change.
    @inline(__always)
    @_lifetime(immortal)
    init(_ record: ViewedRecord) { self.record = record }
  }

  /// The text of an attribute, where it lies in a record.
  ///
  /// Equality and prefixes are those of `String`. Bytes that are not UTF-8 count as replacement
  /// characters, and `kvdump verify` reports them.
  public struct StoredText: ~Escapable {
    @usableFromInline let utf8: ByteView

    @inlinable @inline(__always)
    @_lifetime(copy view)
    init<E: Entity>(_ utf8: ByteView, of view: borrowing EntityView<E>) {
      self.utf8 = utf8
    }

    /// The bytes in UTF-8.
    @inlinable public var bytes: RawSpan {
      @_lifetime(copy self) get { _overrideLifetime(utf8.unsafeBytes.bytes, copying: self) }
    }
  }

  /// The `Data` of an attribute, where it lies in a record.
  public struct StoredBytes: ~Escapable {
    @usableFromInline let content: ByteView

    @inlinable @inline(__always)
    @_lifetime(copy view)
    init<E: Entity>(_ content: ByteView, of view: borrowing EntityView<E>) {
      self.content = content
    }

    /// The bytes.
    @inlinable public var bytes: RawSpan {
      @_lifetime(copy self) get { _overrideLifetime(content.unsafeBytes.bytes, copying: self) }
    }
  }

  extension EntityView {
    /// A text.
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

    /// A text that may be null.
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

    /// Data.
    @inlinable
    public subscript(
      dynamicMember path: KeyPath<E.Attributes, Attribute<E, Data>>
    ) -> StoredBytes {
      @_lifetime(copy self) @inline(__always)
      get {
        StoredBytes(
          record.variable(slot(E.attributes[keyPath: path].ordinal, ViewedForm.data)), of: self
        )
      }
    }

    /// Data that may be null.
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
  /// One stored record of `E`, read where it lies: nothing is decoded that is not asked for.
  ///
  /// As with the feature `Lifetimes`, except that it is borrowed: it cannot be copied, and a text is
  /// used where it is read.
  @dynamicMemberLookup
  public struct EntityView<E: Entity>: ~Copyable {
    @usableFromInline let record: ViewedRecord

    @inline(__always)
    init(_ record: ViewedRecord) { self.record = record }
  }

  /// The text of an attribute, where it lies in a record.
  ///
  /// Equality and prefixes are those of `String`. Bytes that are not UTF-8 count as replacement
  /// characters, and `kvdump verify` reports them.
  public struct StoredText: ~Copyable {
    @usableFromInline let utf8: ByteView

    @inlinable @inline(__always)
    init<E: Entity>(_ utf8: ByteView, of view: borrowing EntityView<E>) {
      self.utf8 = utf8
    }
  }

  /// The `Data` of an attribute, where it lies in a record.
  public struct StoredBytes: ~Copyable {
    @usableFromInline let content: ByteView

    @inlinable @inline(__always)
    init<E: Entity>(_ content: ByteView, of view: borrowing EntityView<E>) {
      self.content = content
    }
  }

  extension EntityView {
    /// A text.
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

    /// A text that may be null.
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

    /// Data.
    @inlinable
    public subscript(
      dynamicMember path: KeyPath<E.Attributes, Attribute<E, Data>>
    ) -> StoredBytes {
      @inline(__always) _read {
        yield StoredBytes(
          record.variable(slot(E.attributes[keyPath: path].ordinal, ViewedForm.data)), of: self
        )
      }
    }

    /// Data that may be null.
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
