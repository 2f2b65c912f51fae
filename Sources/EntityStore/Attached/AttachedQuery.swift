/// Which records of one of two stores, by conditions that the other one decides.
///
///     let swiftNotes = Note.where { $0.stars > 3 }.sorted(by: \.writtenAt.descending).limit(20)
///       .leading(by: \.pod, to: Pod.where { $0.language == "Swift" })
///     let favourites = Pod.all.sorted(by: \.name).referred(by: \.pod, of: Note.where { $0.stars == 5 })
///
/// A value that belongs to no store. An ``AttachedSnapshot`` runs it: on the program's own store for records that
/// lead, on the dataset for records that are referred to. The order, limit, offset and token are those of the
/// query that it is made of.
public struct AttachedQuery<E: Entity>: Sendable {
  /// The query without the conditions over the other store.
  let records: Query<E>
  private(set) var joins: [SemiJoin<E>] = []

  init(_ records: Query<E>) { self.records = records }

  fileprivate func adding(_ join: SemiJoin<E>) -> AttachedQuery {
    var query = self
    query.joins.append(join)
    return query
  }
}

// MARK: Records of the program's own store

extension AttachedQuery {
  /// Only records whose reference at `path` leads to a record that `targets` finds in the dataset.
  public func leading<T: Entity>(
    by path: KeyPath<E.Attributes, Attribute<E, Reference<T>>>, to targets: Query<T>
  ) -> AttachedQuery {
    adding(SemiJoin(ReferenceAttribute(path), leadsTo: targets, isNegated: false))
  }

  /// Only records whose optional reference at `path` leads to a record that `targets` finds in the dataset.
  public func leading<T: Entity>(
    by path: KeyPath<E.Attributes, Attribute<E, Reference<T>?>>, to targets: Query<T>
  ) -> AttachedQuery {
    adding(SemiJoin(ReferenceAttribute(path), leadsTo: targets, isNegated: false))
  }

  /// Only records whose reference at `path` leads to no record that `targets` finds in the dataset.
  ///
  /// Records whose reference dangles are among them:
  /// `Note.all.notLeading(by: \.pod, to: Pod.all)` finds these alone.
  public func notLeading<T: Entity>(
    by path: KeyPath<E.Attributes, Attribute<E, Reference<T>>>, to targets: Query<T>
  ) -> AttachedQuery {
    adding(SemiJoin(ReferenceAttribute(path), leadsTo: targets, isNegated: true))
  }

  /// Only records whose optional reference at `path` leads to no record that `targets` finds in the dataset.
  ///
  /// Among them are the records without a reference.
  public func notLeading<T: Entity>(
    by path: KeyPath<E.Attributes, Attribute<E, Reference<T>?>>, to targets: Query<T>
  ) -> AttachedQuery {
    adding(SemiJoin(ReferenceAttribute(path), leadsTo: targets, isNegated: true))
  }
}

extension Query {
  /// Only records whose reference at `path` leads to a record that `targets` finds in the dataset.
  public func leading<T: Entity>(
    by path: KeyPath<E.Attributes, Attribute<E, Reference<T>>>, to targets: Query<T>
  ) -> AttachedQuery<E> {
    AttachedQuery(self).leading(by: path, to: targets)
  }

  /// Only records whose optional reference at `path` leads to a record that `targets` finds in the dataset.
  public func leading<T: Entity>(
    by path: KeyPath<E.Attributes, Attribute<E, Reference<T>?>>, to targets: Query<T>
  ) -> AttachedQuery<E> {
    AttachedQuery(self).leading(by: path, to: targets)
  }

  /// Only records whose reference at `path` leads to no record that `targets` finds in the dataset.
  public func notLeading<T: Entity>(
    by path: KeyPath<E.Attributes, Attribute<E, Reference<T>>>, to targets: Query<T>
  ) -> AttachedQuery<E> {
    AttachedQuery(self).notLeading(by: path, to: targets)
  }

  /// Only records whose optional reference at `path` leads to no record that `targets` finds in the dataset.
  public func notLeading<T: Entity>(
    by path: KeyPath<E.Attributes, Attribute<E, Reference<T>?>>, to targets: Query<T>
  ) -> AttachedQuery<E> {
    AttachedQuery(self).notLeading(by: path, to: targets)
  }
}

// MARK: Records of the dataset

extension AttachedQuery {
  /// Only records of the dataset to which the reference at `path` of a record leads that `records` finds in the
  /// program's own store.
  public func referred<U: Entity>(
    by path: KeyPath<U.Attributes, Attribute<U, Reference<E>>>, of records: Query<U>
  ) -> AttachedQuery {
    adding(SemiJoin(referredBy: ReferenceAttribute(path), of: records, isNegated: false))
  }

  /// Only records of the dataset to which the optional reference at `path` of a record leads that `records`
  /// finds in the program's own store.
  public func referred<U: Entity>(
    by path: KeyPath<U.Attributes, Attribute<U, Reference<E>?>>, of records: Query<U>
  ) -> AttachedQuery {
    adding(SemiJoin(referredBy: ReferenceAttribute(path), of: records, isNegated: false))
  }

  /// Only records of the dataset to which the reference at `path` leads of no record that `records` finds in the
  /// program's own store.
  public func notReferred<U: Entity>(
    by path: KeyPath<U.Attributes, Attribute<U, Reference<E>>>, of records: Query<U>
  ) -> AttachedQuery {
    adding(SemiJoin(referredBy: ReferenceAttribute(path), of: records, isNegated: true))
  }

  /// Only records of the dataset to which the optional reference at `path` leads of no record that `records`
  /// finds in the program's own store.
  public func notReferred<U: Entity>(
    by path: KeyPath<U.Attributes, Attribute<U, Reference<E>?>>, of records: Query<U>
  ) -> AttachedQuery {
    adding(SemiJoin(referredBy: ReferenceAttribute(path), of: records, isNegated: true))
  }
}

extension Query {
  /// Only records of the dataset to which the reference at `path` of a record leads that `records` finds in the
  /// program's own store.
  public func referred<U: Entity>(
    by path: KeyPath<U.Attributes, Attribute<U, Reference<E>>>, of records: Query<U>
  ) -> AttachedQuery<E> {
    AttachedQuery(self).referred(by: path, of: records)
  }

  /// Only records of the dataset to which the optional reference at `path` of a record leads that `records`
  /// finds in the program's own store.
  public func referred<U: Entity>(
    by path: KeyPath<U.Attributes, Attribute<U, Reference<E>?>>, of records: Query<U>
  ) -> AttachedQuery<E> {
    AttachedQuery(self).referred(by: path, of: records)
  }

  /// Only records of the dataset to which the reference at `path` leads of no record that `records` finds in the
  /// program's own store.
  public func notReferred<U: Entity>(
    by path: KeyPath<U.Attributes, Attribute<U, Reference<E>>>, of records: Query<U>
  ) -> AttachedQuery<E> {
    AttachedQuery(self).notReferred(by: path, of: records)
  }

  /// Only records of the dataset to which the optional reference at `path` leads of no record that `records`
  /// finds in the program's own store.
  public func notReferred<U: Entity>(
    by path: KeyPath<U.Attributes, Attribute<U, Reference<E>?>>, of records: Query<U>
  ) -> AttachedQuery<E> {
    AttachedQuery(self).notReferred(by: path, of: records)
  }
}
