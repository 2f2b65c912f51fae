public import EntityStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The options of a follower.
public struct ReplicaFollowerOptions: Sendable {
  /// The interval at which the log is asked for new entries.
  ///
  /// The default is one second. A question without news is one request, and a second one every 30
  /// seconds.
  public var pollInterval = Duration.seconds(1)
  /// The size of the changes after which a transaction is committed, in unpacked bytes.
  ///
  /// The default is 64 MiB. One write of the writer is never divided, so a larger one exceeds it.
  public var transactionSizeLimitInBytes: UInt64 = 64 << 20
  /// A name under which the follower registers, or `nil`.
  ///
  /// The writer keeps the parts of the log that a registered follower has not applied. A name has 1
  /// to 64 ASCII letters, digits, `.`, `-` and `_`, and begins with a letter or digit.
  public var id: String?
  /// The least time between the reports of a registered follower; each one is a request.
  ///
  /// The default is a minute.
  public var reportInterval = Duration.seconds(60)
  /// Whether only the records of the named entities are followed; `nil` follows all.
  ///
  /// A relationship between a followed entity and another one is refused. So is a type that the
  /// program reads and that is not among the names.
  public var followedEntities: [String]?
  /// The conditions of the records that are followed, as format strings by the names of entities.
  ///
  /// All records of the other entities are followed. ``follow(_:where:)`` sets a condition by the
  /// type of an entity. A copy that followed by other conditions begins again at a base.
  public var conditions: [String: String] = [:]
  /// The time for which the copy keeps its own history; `nil` keeps everything.
  ///
  /// The default is seven days. Only the follower writes the copy, so nobody else can purge it.
  public var historyRetention: Duration? = .seconds(7 * 86_400)
  /// The options of the store that the program reads; its access is always read-only.
  public var storeOptions = StoreOptions()
  /// The number of failures in a row after which a call throws; the background tries again.
  ///
  /// The default is 6.
  public var failureLimit = 6
  /// Called after each change of the status, for metrics.
  ///
  /// The follower waits for the call. Two calls on different threads may overlap.
  public var onStatus: (@Sendable (ReplicaFollowerStatus) -> Void)?
  /// Called during long steps, on the thread that works.
  public var onProgress: (@Sendable (ReplicaProgress) -> Void)?

  /// The steps of a follower at which tests end the process.
  var onStep: @Sendable (FollowerStep) -> Void = { _ in }

  /// Creates the default options.
  public init() {}

  /// Follows only the records of a type that fulfil a condition.
  ///
  ///     try options.follow(Pod.self) { $0.stars > 100 }
  ///
  /// A record that fulfils the condition no longer is removed from the copy, and comes in again
  /// when it does. A link to a record that the copy lacks is left out until the record comes in. An
  /// attribute that holds such a link is null. The follower refuses four conditions, by the name of
  /// the entity:
  /// - A condition that depends on the time, or on other records.
  /// - A condition on an entity with an ordered relationship.
  /// - A condition on the target of a required attribute.
  /// - A condition on records from which an attribute of other records is derived.
  ///
  /// The follower does not compare such an entity with the digests of the writer;
  /// ``ReplicaFollowerStatus/unverifiedContent`` names it.
  ///
  /// - Parameter condition: A condition on the record's own attributes, without closures.
  /// - Throws: `StoreError` for a condition that only Swift code can evaluate.
  public mutating func follow<E: Entity>(
    _ type: E.Type = E.self,
    @ConditionBuilder<E> where condition: (E.Attributes) -> Condition<E>
  ) throws(StoreError) {
    conditions[E.schema.name] = try condition(E.attributes).formatString()
  }

  /// Throws for a name of a registered follower that cannot be a part of an object's name.
  func checkID() throws(ReplicaError) {
    guard let id, !ReplicaName.isFollowerID(id) else { return }
    throw ReplicaError(
      .unsuitableStore,
      "cannot register the follower '\(StorageError.visible(id))': a name has 1 to 64 ASCII "
        + "letters, digits, '.', '-' and '_', and begins with a letter or digit; choose another "
        + "one")
  }

  /// Throws for a type of the program of which the copy would have no records.
  func check(_ types: [any Entity.Type]) throws(ReplicaError) {
    guard let followedEntities else { return }
    func name<E: Entity>(of type: E.Type) -> String { E.schema.name }
    guard let name = types.map({ name(of: $0) }).first(where: { !followedEntities.contains($0) })
    else { return }
    throw ReplicaError(
      .unsuitableStore,
      "cannot read \(name) in a follower of \(followedEntities.joined(separator: ", ")): the copy "
        + "has no records of other entities; add '\(name)' to followedEntities, or leave the type "
        + "out")
  }

  /// Throws for a name that is no entity of a base, before the base is downloaded.
  func checkNames(in base: BaseHead) throws(ReplayError) {
    let known = Set(base.entities.values.map(\.name))
    let names = (followedEntities ?? []) + conditions.keys.sorted()
    // Heads of earlier versions have no names.
    guard !known.isEmpty, let unknown = names.first(where: { !known.contains($0) }) else { return }
    throw .unknownEntity(unknown)
  }

  /// The conditions in the form in which a copy stores them.
  func checkedConditions() throws(ReplicaError) -> [String: String] {
    var checked: [String: String] = [:]
    for (entity, text) in conditions {
      if let followedEntities, !followedEntities.contains(entity) {
        throw ReplicaError(
          .unsuitableStore,
          "cannot follow \(entity) by a condition: it is not among the followed entities; add it, "
            + "or leave the condition out")
      }
      do throws(StoreError) {
        checked[entity] = try QueryRequest.canonicalCondition(text)
      } catch {
        throw ReplicaError(
          .unsuitableStore,
          "cannot follow \(entity) by the condition '\(text)': \(error.message)", cause: error)
      }
    }
    return checked
  }
}

/// The steps of a follower, for tests that end the process at each of them.
package enum FollowerStep: String, Sendable, CaseIterable {
  case downloaded, copied, swapped, read, applied, registered
}

extension ReplicaFollowerOptions {
  /// Sets the closure that tests use to end the process at a step.
  package mutating func setStepHook(_ body: @escaping @Sendable (FollowerStep) -> Void) {
    onStep = body
  }
}

/// The state of a follower.
public struct ReplicaFollowerStatus: Sendable {
  /// The last slot of the log whose changes the store has.
  public var slot: UInt64 = 0
  /// The epoch of the writer of that slot.
  public var epoch: UInt64 = 0
  /// The last write that the store has, as the log numbers writes.
  public var lastWrite: UInt64 = 0
  /// The time of that write by the writer's clock; `nil` if it is not known yet.
  public var dataTime: Date?
  /// The last time at which the follower had all entries of the log; `nil` before the first one.
  public var caughtUpAt: Date?
  /// The number of changed records and links that were applied since the follower was opened.
  public var changesApplied: UInt64 = 0
  /// The number of times that a base has replaced the file since the follower was opened.
  public var replacements = 0
  /// The names of the entities and relationships that are not compared with the writer's digests.
  ///
  /// The copy has only a part of them; see ``ReplicaFollowerOptions/conditions``.
  public var unverifiedContent: [String] = []
  /// The reason why the follower began a new copy when it was opened, although the folder had one;
  /// `nil` if the follower continued.
  public var newCopyReason: String?
  /// The requests since the follower was opened.
  public var traffic = ReplicaTraffic()
  /// The last failure; `nil` after a success.
  public var lastFailure: ReplicaError?
  /// The failure that has ended the follower; `nil` while it runs.
  public var end: ReplicaError?

  init() {}

  /// The maximum age of the store compared with the log; `nil` if it is unknown.
  ///
  /// - Parameter date: The current date.
  public func lag(at date: Date = Date()) -> Duration? {
    (caughtUpAt ?? dataTime).map { .seconds(max(0, date.timeIntervalSince($0))) }
  }
}
