#if Macros && (Web || canImport(Darwin))
  import Foundation
  import Lodestore
  import LodestoreWeb

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  // The program of the article on imports that reads a web service; it is not run.

  enum WebArticle {
    @Entity
    struct Release {
      #Unique<Release>([\.number])

      var number: Int
      var title: String
      var publishedAt: Date?
    }

    struct ReleaseRecord: Decodable {
      var id: Int
      var name: String?
      var published_at: Date?
    }

    static func update(_ store: Store, from url: URL, token: String) async throws {
      var request = URLRequest(url: url)
      request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
      var options = WebPages.Options()
      options.retries = 6
      let pages = WebPages(request, paging: .linkHeader, options: options)
      let importer = Importer(into: store, Release.self, matching: .unique(\.number))
      do {
        let report = try await importer.run(pages) { (release: ReleaseRecord) in
          Release(
            number: release.id, title: release.name ?? "", publishedAt: release.published_at)
        }
        print(report, "in", report.pages, "pages,", report.unchangedPages, "unchanged")
        for reject in report.rejects { print(reject.page, reject.record, reject.reason) }
      } catch let error as WebSourceError {
        print(error, error.attempts)
      }
    }
  }
#endif
