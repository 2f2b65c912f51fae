/// A query for records of one of two stores, with conditions on records of the other store.
///
///     let swiftNotes = Note.where { $0.stars > 3 }.sorted(by: \.writtenAt.descending).limit(20)
///       .leading(by: \.pod, to: Pod.where { $0.language == "Swift" })
///     let favourites = Pod.all.sorted(by: \.name).referred(by: \.pod, of: Note.where { $0.stars == 5 })
///
/// A query belongs to no store. An ``AttachedSnapshot`` runs it: on the program's own store for
/// records with references, on the dataset for referenced records. The order, limit, offset and
/// token are those of the query to which the conditions were added.
public struct AttachedQuery<E: Entity>: Sendable {
  /// The query without the conditions over the other store.
  let records: Query<E>
  private(set) var joins: [SemiJoin<E>] = []

  init(_ records: Query<E>) { self.records = records }

  func adding(_ join: SemiJoin<E>) -> AttachedQuery {
    var query = self
    query.joins.append(join)
    return query
  }
}

/// A query to which conditions over two stores can be added.
///
/// Only ``Query`` and ``AttachedQuery`` conform to this protocol. Do not conform to it in a
/// program.
public protocol JoinableQuery<Root>: Sendable {
  /// The entity whose records are found.
  associatedtype Root: Entity

  /// The query with its conditions over two stores.
  @_documentation(visibility: internal)
  var attached: AttachedQuery<Root> { get }
}

extension AttachedQuery: JoinableQuery {
  /// The query itself.
  @_documentation(visibility: internal)
  public var attached: AttachedQuery { self }
}

extension Query: JoinableQuery {
  /// The query, without a condition over two stores.
  @_documentation(visibility: internal)
  public var attached: AttachedQuery<E> { AttachedQuery(self) }
}

extension JoinableQuery {
  /// Only records whose reference at `path` leads to a record in the dataset that matches
  /// `targets`.
  ///
  /// The query is for records of the program's own store.
  public func leading<V: ReferenceValue>(
    by path: KeyPath<Root.Attributes, Attribute<Root, V>>, to targets: Query<V.Target>
  ) -> AttachedQuery<Root> {
    attached.adding(SemiJoin(ReferenceAttribute(path), leadsTo: targets, isNegated: false))
  }

  /// Only records whose reference at `path` leads to no record in the dataset that matches
  /// `targets`.
  ///
  /// The result includes records without a reference and records with a dangling reference.
  /// `Note.all.notLeading(by: \.pod, to: Pod.all)` finds only records of these two kinds.
  public func notLeading<V: ReferenceValue>(
    by path: KeyPath<Root.Attributes, Attribute<Root, V>>, to targets: Query<V.Target>
  ) -> AttachedQuery<Root> {
    attached.adding(SemiJoin(ReferenceAttribute(path), leadsTo: targets, isNegated: true))
  }

  /// Only records of the dataset that are referenced at `path` by a record that matches `records`.
  ///
  /// `records` is a query of the program's own store.
  public func referred<U: Entity, V: ReferenceValue>(
    by path: KeyPath<U.Attributes, Attribute<U, V>>, of records: Query<U>
  ) -> AttachedQuery<Root> where V.Target == Root {
    attached.adding(SemiJoin(referredBy: ReferenceAttribute(path), of: records, isNegated: false))
  }

  /// Only records of the dataset that are not referenced at `path` by a record that matches
  /// `records`.
  ///
  /// `records` is a query of the program's own store.
  public func notReferred<U: Entity, V: ReferenceValue>(
    by path: KeyPath<U.Attributes, Attribute<U, V>>, of records: Query<U>
  ) -> AttachedQuery<Root> where V.Target == Root {
    attached.adding(SemiJoin(referredBy: ReferenceAttribute(path), of: records, isNegated: true))
  }
}
