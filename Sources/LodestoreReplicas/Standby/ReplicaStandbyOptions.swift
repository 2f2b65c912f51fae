public import EntityStore

/// The options of a standby.
public struct ReplicaStandbyOptions: Sendable {
  /// The options of the follower; all entities are followed.
  public var follower = ReplicaFollowerOptions()
  /// The options of the store after the takeover; its access is always for writing.
  public var storeOptions = StoreOptions()
  /// The longest interval at which the lease is read.
  ///
  /// The default is five seconds. A lease of less than 30 seconds is read more often.
  public var leasePollInterval = Duration.seconds(5)
  /// The time without a sign of a writer after which a writer without a lease counts as ended.
  ///
  /// With `nil`, the default, the standby never takes over before it has seen a lease.
  public var assumedLease: Duration?
  /// A name of the machine or the process that takes over, for people.
  public var name: String?
  /// Called after each read of the lease, for metrics, by the task that waits to take over.
  public var onStatus: (@Sendable (ReplicaStandbyStatus) -> Void)?

  /// Creates the default options.
  public init() {}
}

/// The state of a standby.
public struct ReplicaStandbyStatus: Sendable {
  /// The state of the follower.
  public var follower = ReplicaFollowerStatus()
  /// The holder of the lease; `nil` without a lease.
  public var leaseHolder: String?
  /// The time until the writer counts as ended; `nil` before the first lease and after a failure.
  ///
  /// Each sign of the writer restarts the time.
  public var timeUntilTakeover: Duration?
  /// The requests for the lease; those of the follower are in ``follower``.
  public var traffic = ReplicaTraffic()
  /// The last failure; `nil` after a success.
  public var lastFailure: ReplicaError?
  /// The result of the takeover; `nil` before it.
  public var takeover: ReplicaTakeoverReport?

  init() {}
}
