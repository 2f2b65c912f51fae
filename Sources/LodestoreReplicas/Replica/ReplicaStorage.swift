/// The place of a replica: a folder of a bucket in an object storage, or a local folder.
///
///     let bucket = try ReplicaStorage.s3("https://s3.eu-central-1.amazonaws.com/backups/pods")
///     let local = try ReplicaStorage.folder("/mnt/replicas/pods")
///
/// One bucket can hold many replicas under different prefixes.
public struct ReplicaStorage: Sendable, CustomStringConvertible {
  let storage: any ObjectStorage
  /// The clock of all that use the bucket; a simulation has its own.
  let clock: ReplicaClock

  /// The place for messages, without secrets.
  public var description: String { storage.place }

  package init(_ storage: some ObjectStorage) { self.init(storage, clock: .system) }

  init(_ storage: some ObjectStorage, clock: ReplicaClock) {
    self.storage = storage
    self.clock = clock
  }

  /// A client whose requests are counted for one writer, follower or restore.
  var client: ReplicaClient { ReplicaClient(MeteredStorage(storage), clock: clock) }

  /// A local folder, which must exist.
  ///
  /// A missing folder is not created, because the mount of a network drive may be missing.
  /// All processes that use the folder must run on machines that see one file system with hard
  /// links. A replica in a folder is for tests, for a second disk, or for a mounted network drive.
  ///
  /// - Throws: ``ReplicaError`` with the code `storage`.
  public static func folder(_ path: String) throws -> ReplicaStorage {
    do {
      return ReplicaStorage(try FolderStorage(path: path))
    } catch { throw ReplicaError.wrapped(error) }
  }

  /// A bucket of an S3-compatible service.
  ///
  /// - Parameters:
  ///   - address: The address of the service, then the name of the bucket, then the prefix of the
  ///     replica, as in `https://s3.eu-central-1.amazonaws.com/backups/pods`.
  ///   - credentials: The source of the keys; by default the environment and the files of AWS.
  ///   - region: The region for signatures; by default that of the address or the environment.
  /// - Throws: ``ReplicaError`` with the code `storage`.
  public static func s3(
    _ address: String, credentials: S3CredentialSource = .automatic, region: String? = nil
  ) throws -> ReplicaStorage {
    do {
      var options = S3Storage.Options()
      options.region = region
      return ReplicaStorage(try S3Storage(address, credentials: credentials, options: options))
    } catch { throw ReplicaError.wrapped(error) }
  }
}
