#if Macros
  import SwiftDiagnostics

  /// A diagnostic about a declaration, in one line.
  ///
  /// All texts are in this file, so that they can be proofread together. The wording is: cannot +
  /// verb + thing: the fact found; the next step.
  struct EntityMessage: DiagnosticMessage {
    let id: String
    let message: String
    let severity: DiagnosticSeverity
    var diagnosticID: MessageID { MessageID(domain: "EntityMacros", id: id) }

    /// - Parameter function: The function that makes the message. Its name becomes the message's
    ///   id.
    private init(
      _ message: String, severity: DiagnosticSeverity = .error, function: String = #function
    ) {
      id = String(function.prefix { $0 != "(" })
      self.message = message
      self.severity = severity
    }

    // MARK: The struct

    static func notAStruct(_ kind: String) -> Self {
      Self("cannot make an entity of \(kind): an entity is a value; declare a struct")
    }

    static func generic(_ entity: String) -> Self {
      Self(
        "cannot make an entity of '\(entity)': it is generic, and an entity has one schema; "
          + "remove the type parameters")
    }

    static func insideGeneric(_ entity: String) -> Self {
      Self(
        "cannot make an entity of '\(entity)': a declaration around it is generic, and an entity "
          + "has one schema; move the struct out")
    }

    static func privateNested(_ entity: String) -> Self {
      Self(
        "cannot make an entity of '\(entity)': its conformance is written outside of the type "
          + "around it, where a private struct is not visible; make it fileprivate")
    }

    static func insidePrivate(_ entity: String, _ outer: String) -> Self {
      Self(
        "cannot make an entity of '\(entity)': its conformance is written outside of the types "
          + "around it, where the private '\(outer)' is not visible; make '\(outer)' fileprivate")
    }

    static func entityNameNotLiteral() -> Self {
      Self("cannot read the name of the entity: it is not a text literal; write it out")
    }

    static func removedNameNotLiteral() -> Self {
      Self("cannot read the name of a removed attribute: it is not a text literal; write it out")
    }

    static func removedIsDeclared(_ name: String) -> Self {
      Self("cannot remove '\(name)': it is a stored property; remove one of the two")
    }

    static func badName(_ name: String, of thing: String) -> Self {
      Self(
        "cannot use '\(name)' as the name of \(thing): "
          + (name == "_id"
            ? "the store calls the id of a record so"
            : "names in the file are an ASCII letter or '_', then letters, digits and '_', at most "
              + "64 bytes") + "; rename it")
    }

    static func ownMember(_ name: String, _ entity: String) -> Self {
      Self(
        "cannot declare '\(name)' in '\(entity)': @Entity gives the type a static '\(name)'; use another "
          + "name, and '@Attribute(originalName: \"\(name)\")' where the file has it")
    }

    static func ownID(_ entity: String) -> Self {
      Self(
        "cannot declare 'id' in '\(entity)': @Entity gives it 'id', a RecordID<\(entity)>; "
          + "use another name, with @Attribute(name: \"id\") to keep 'id' in the file")
    }

    static func ownRecordID(_ entity: String) -> Self {
      Self(
        "cannot declare 'id' in '\(entity)': @Entity gives it 'id', a RecordID<\(entity)>; "
          + "remove it")
    }

    // MARK: Relationships

    static func computedRelationship(_ name: String) -> Self {
      Self(
        "cannot store relationship '\(name)': it is made anew each time, and a relationship is known by "
          + "one value; make it a 'static let'")
    }

    static func relationshipHoldsNoID(_ name: String, _ type: String) -> Self {
      let isList = type.hasPrefix("[") || type.hasPrefix("Set<") || type.hasPrefix("Array<")
      return Self(
        isList
          ? "cannot make a relationship of '\(name)': it is \(type), and an attribute leads to one record; "
            + "for many records declare 'static let \(name) = ToMany<…>()' with both entities"
          : "cannot make a relationship of '\(name)': it is \(type), and a relationship to one record is its "
            + "id; write the entity's id, as in 'Person.ID?'")
    }

    static func relationshipOnUnstored(_ name: String, _ kind: String) -> Self {
      Self(
        "cannot make a relationship of '\(name)': it is \(kind), and only stored properties hold ids; "
          + "remove @Relationship")
    }

    // MARK: Derived attributes

    static func derivedSettable(_ name: String) -> Self {
      Self(
        "cannot derive '\(name)': programs could set it, and the store keeps it; make it 'private(set)'"
      )
    }

    static func derivedRelationship(_ name: String) -> Self {
      Self(
        "cannot derive '\(name)': it is a relationship, which programs set; remove one of the two")
    }

    // MARK: Properties

    static func missingType(_ property: String) -> Self {
      Self(
        "cannot store '\(property)': its type is not written, and types are part of the schema; "
          + "write it")
    }

    static func unstorable(_ property: String, _ reason: String) -> Self {
      Self("cannot store '\(property)': \(reason), or leave it out with @Transient")
    }

    static func constant(_ property: String) -> Self {
      Self(
        "cannot read '\(property)' from a record: a 'let' with a value never has another; "
          + "make it 'var', or leave it out with @Transient")
    }

    static func tuplePattern() -> Self {
      Self(
        "cannot store a tuple of properties: each attribute needs a declaration; write one for "
          + "each name")
    }

    static func conditional(_ what: String) -> Self {
      Self(
        "cannot read \(what) inside '#if': @Entity does not see which branch is compiled; move it "
          + "out")
    }

    static func transientWithoutValue(_ property: String) -> Self {
      Self(
        "cannot leave out '\(property)': it has no value when a record is read; give it a default "
          + "value")
    }

    /// A note that the default value is used for inserts only, and not for older records.
    ///
    /// Opening a store fails only if older records exist, which would then need a value.
    static func defaultOfInserts(_ property: String, _ value: String) -> Self {
      Self(
        "the default '\(value)' of '\(property)' is made anew for each insert, so records that are "
          + "older than the attribute, and imported ones that lack it, have none; where there are such "
          + "records, add '@Attribute(initial: …)' with the value for them",
        severity: .note)
    }

    static func changingInitial(_ property: String, _ value: String) -> Self {
      Self(
        "cannot take '\(value)' as the initial value of '\(property)': it may be another one in each "
          + "process, and the file keeps one; write a literal, a static member, or a call with such "
          + "arguments")
    }

    static func initialOfOther(_ property: String, _ kind: String) -> Self {
      Self("cannot give '\(property)' an initial value: it is \(kind); remove 'initial'")
    }

    static func constraintsOfDerived(_ property: String) -> Self {
      Self(
        "cannot constrain '\(property)': it is derived, and the store makes its value; declare a RecordRule "
          + "in 'static let rules', and remove 'constraints'")
    }

    static func constraintsOfRelationship(_ property: String) -> Self {
      Self(
        "cannot constrain '\(property)': it is a relationship, and holds the id of a record that is there; "
          + "remove 'constraints'")
    }

    static func attributeOnUnstored(_ property: String, _ kind: String) -> Self {
      Self(
        "cannot use @Attribute on '\(property)': it is \(kind), and only what is stored is an "
          + "attribute; remove one of the two")
    }

    static func unknownOption(_ option: String) -> Self {
      Self(
        "cannot read the option '\(option)': @Entity sees only what is written here; write "
          + "'.unique'")
    }

    static func attributeNameNotLiteral(_ kind: String) -> Self {
      Self("cannot read the \(kind): it is not a text literal; write it out")
    }

    // MARK: Indexes

    static func otherEntity(_ other: String, _ entity: String) -> Self {
      Self(
        "cannot index '\(other)' inside '\(entity)': an index belongs to the struct it stands in; "
          + "write '\(entity)'")
    }

    static func noPaths() -> Self {
      Self("cannot make an index of nothing: its list is empty; name an attribute")
    }

    static func notPaths() -> Self {
      Self("cannot read the index: it is not a list of key paths; write it as [\\.name, \\.other]")
    }

    static func nestedPath(_ path: String) -> Self {
      Self(
        "cannot index '\(path)': a nested value is stored inside of its attribute; make it an "
          + "attribute of its own, by @Derived(.member(…)) for instance")
    }

    static func optionalPath(_ path: String) -> Self {
      Self(
        "cannot index '\(path)': an optional attribute is indexed whole, with null first; "
          + "remove the '?' or '!'")
    }

    static func unknownPath(_ name: String, _ entity: String, suggestion: String?) -> Self {
      Self(
        "cannot index '\(name)': '\(entity)' has no stored property of that name"
          + (suggestion.map { "; did you mean '\($0)'?" } ?? "; name a stored property"))
    }

    static func unstoredPath(_ name: String, _ kind: String) -> Self {
      Self("cannot index '\(name)': it is \(kind) and not stored; name a stored property")
    }

    static func idPath() -> Self {
      Self("cannot index 'id': records are found by id without an index; remove it")
    }

    static func unindexable(_ name: String, _ kind: String) -> Self {
      Self("cannot index '\(name)': it is \(kind), and an index takes single values; remove it")
    }

    static func elementsWithOthers(_ name: String, _ kind: String) -> Self {
      Self(
        "cannot index '\(name)' so: it is \(kind), whose elements have an #Index of their own; remove it "
          + "here")
    }

    static func repeatedPath(_ name: String) -> Self {
      Self("cannot index '\(name)' twice in one index; remove it")
    }

    static func repeatedIndex(_ names: String) -> Self {
      Self("cannot declare the index on \(names) twice; remove one")
    }

    static func repeatedExpiry() -> Self {
      Self("cannot have records expire by two attributes; remove one #Expires")
    }

    static func notOnePlace() -> Self {
      Self(
        "cannot index a place by more or fewer attributes than two; name a latitude and a longitude"
      )
    }

    static func notOneExpiry() -> Self {
      Self(
        "cannot have records expire by more or fewer attributes than one; name one, as [\\.validUntil]"
      )
    }

    static func expiryIsNoDate(_ name: String, _ type: String) -> Self {
      Self("cannot have records expire by '\(name)': its type is \(type); name a Date or a Date?")
    }

    static func repeatedLimit() -> Self {
      Self("cannot limit the records twice; name both numbers in one #Limit")
    }

    static func limitWithoutNumber() -> Self {
      Self(
        "cannot limit the records without a number; name one, as count: 10_000 or bytes: 1_000_000")
    }

    static func emptyLimit() -> Self {
      Self("cannot limit the records to less than 1; name a higher number")
    }

    static func notOneOldest() -> Self {
      Self(
        "cannot tell the oldest record by more or fewer attributes than one; name one, as "
          + "[\\.fetchedAt], or leave 'by' out for the order of insertion")
    }

    static func outsideEntity(_ macro: String) -> Self {
      Self(
        "cannot use \(macro) here: nothing reads it outside of a struct with @Entity; add @Entity "
          + "or remove it")
    }
  }

  /// The text of a fix-it.
  struct EntityFix: FixItMessage {
    let id: String
    let message: String
    var fixItID: MessageID { MessageID(domain: "EntityMacros", id: id) }

    init(_ id: String, _ message: String) {
      self.id = id
      self.message = message
    }

    static let addTransient = EntityFix("addTransient", "leave it out with '@Transient'")
    static let makeStruct = EntityFix("makeStruct", "make it a 'struct'")
    static let makeVar = EntityFix("makeVar", "make it a 'var'")
    static let makePrivateSet = EntityFix("makePrivateSet", "make it 'private(set)'")
    static let makeFileprivate = EntityFix("makeFileprivate", "make it 'fileprivate'")
    static let removePath = EntityFix("removePath", "remove the key path")
    static let removeIndex = EntityFix("removeIndex", "remove the index")
    static let removeAttribute = EntityFix("removeAttribute", "remove '@Attribute'")
    static let removeGenerics = EntityFix("removeGenerics", "remove the type parameters")
    static let removeID = EntityFix("removeID", "remove this property")

    static func rename(_ name: String) -> EntityFix {
      EntityFix("rename", "rename it to '\(name)'")
    }
    static func addType(_ type: String) -> EntityFix {
      EntityFix("addType", "write the type as '\(type)'")
    }
    static func useType(_ type: String) -> EntityFix { EntityFix("useType", "use '\(type)'") }
    static func addDefault(_ value: String) -> EntityFix {
      EntityFix("addDefault", "add the default value '\(value)'")
    }
    static func replace(_ name: String) -> EntityFix {
      EntityFix("replace", "replace it by '\(name)'")
    }
  }
#endif
