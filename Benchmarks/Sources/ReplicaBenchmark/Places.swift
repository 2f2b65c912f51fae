#if Replicas
  import Foundation
  import LodestoreReplicas

  /// The folder of the run, and the places of the replicas.
  struct Places {
    let directory: String
    /// The address of a service; `nil` stands for folders.
    let address: String?

    /// Makes an empty folder in the directory, in place of an earlier one.
    func folder(_ name: String) throws -> String {
      let path = "\(directory)/\(name)"
      try? FileManager.default.removeItem(atPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      return path
    }

    /// A place without a replica.
    func bucket(_ name: String) throws -> ReplicaStorage {
      guard let address else { return try ReplicaStorage.folder(try folder(name)) }
      return try ReplicaStorage.s3("\(address)/\(name)-\(UInt64.random(in: .min ... .max))")
    }
  }
#endif
