#if Datasets
  import LodestoreReplicas

  // The Swift of the article "Storages of replicas". `ReadmeTests` checks that the article has
  // nothing else.

  private enum ReplicaStoragesArticle {
    static func services(_ accessKey: String, _ secretKey: String) throws -> [ReplicaStorage] {
      let bucket = try ReplicaStorage.s3("https://s3.eu-central-1.amazonaws.com/backups/notes")
      let local = try ReplicaStorage.s3(
        "http://127.0.0.1:8333/backups/notes",
        credentials: .keys(S3Credentials(accessKey: accessKey, secretKey: secretKey)),
        region: "us-east-1")

      return [bucket, local]
    }

    static func folder() throws -> ReplicaStorage {
      let bucket = try ReplicaStorage.folder("/mnt/backup/notes")

      return bucket
    }
  }
#endif
