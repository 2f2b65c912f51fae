#if Datasets
  import EntityStore
  import Foundation
  import LodestoreDatasets

  // The Swift of the article "Publishing datasets". `ReadmeTests` checks that the article has
  // nothing else.

  private enum PublishingDatasetsArticle {
    static func publish(_ store: Store, _ date: Date) throws {
      let key = try SigningKey(pem: String(contentsOfFile: "signing-key.pem", encoding: .utf8))
      let publisher = DatasetPublisher("site/catalog", key: key)
      let report = try publisher.publish(sealing: store, name: "catalog", dataAsOf: date)
      print(report.manifest.generation, report.trustedKeys)
    }
  }
#endif
