#if Datasets
  import EntityStore
  import Foundation
  import LodestoreReplicas

  // The Swift of the section "Other machines" of README.md. `ReadmeTests` checks that the section
  // has nothing else.

  private typealias Film = Note

  private enum ReadmeReplicas {
    static func run(_ store: Store, _ yesterday: Date) async throws -> (ReplicaWriter, String) {
      let bucket = try ReplicaStorage.s3("https://s3.eu-central-1.amazonaws.com/backups/films")
      let writer = try await Replica.writer(store, to: bucket)

      // On another machine, with the connection or without:
      let follower = try await Replica.follower(at: "copy", of: bucket, entities: [Film.self])
      for try await update in follower.updates(of: Film.all) { print(update.items.count) }

      // After the writer's machine is lost, and to get an earlier state back:
      let taken = try await Replica.takeOver(bucket, at: "films.lodestore")
      try await Replica.restore(bucket, to: .time(yesterday), at: "earlier.lodestore")

      return (writer, taken.path)
    }
  }
#endif
