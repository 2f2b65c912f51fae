#if Datasets
  import EntityStore
  import LodestoreReplicas

  // The Swift of the article "When a replica fails". `ReadmeTests` checks that the article has
  // nothing else.

  private enum ReplicaErrorsArticle {
    static func open(_ store: Store, _ bucket: ReplicaStorage) async throws {
      do {
        let writer = try await Replica.writer(store, to: bucket)
        print(writer.status.slot)
      } catch let error as ReplicaError {
        switch error.code {
        case .storage, .busy: print("try again later: \(error)")
        case .fenced, .diverged: print("export these writes: \(error)")
        default: print(error)
        }
      }
    }
  }
#endif
