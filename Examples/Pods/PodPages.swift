import Foundation
import Lodestore
import LodestoreWeb
import Synchronization

/// The pages of a service of podspecs.
///
/// A page lists the dependencies of a podspec as a dictionary, `{"Alamofire/Core": ["~> 5.0"]}`. An
/// import takes links from a list of keys, so such a list is added to each record: `"needs":
/// ["Alamofire"]`.
final class PodPages: PageSource {
  private let pages: WebPages
  private let pageCount = Mutex<Int?>(nil)

  init(_ service: URL) {
    var options = WebPages.Options()
    options.pagesInFlight = 4
    options.firstWait = .milliseconds(100)
    pages = WebPages(
      service.appending(path: "pods"),
      paging: .pageNumber(first: 0, endsAt: .pageCount(at: "number_of_pages")), options: options)
  }

  /// The number of pages; `nil` until a page has arrived.
  var count: Int? { pageCount.withLock { $0 } }

  func pages(
    from position: String?, remembered: @escaping @Sendable (String) -> PageMemory?
  ) -> AsyncMapSequence<WebPages.Pages, ImportPage> {
    pages.pages(from: position, remembered: remembered).map { page in
      var page = page
      page.content = page.content.map(self.withNeeds)
      return page
    }
  }

  /// Returns the page with the member `needs` added to each record.
  ///
  /// A page of another form is returned unchanged. The import then reports it.
  private func withNeeds(_ content: Data) -> Data {
    guard case .object(var page)? = try? JSONValue(parsing: content),
      let records = page["result"]?.arrayValue
    else { return content }
    pageCount.withLock { $0 = page["number_of_pages"]?.intValue }
    page["result"] = .array(
      records.map { record in
        guard case .object(var members) = record else { return record }
        let names = members["dependencies"]?.objectValue?.keys.map { $0.prefix { $0 != "/" } }
        members["needs"] = .array(Set(names ?? []).sorted().map { .string(String($0)) })
        return .object(members)
      })
    return Data(JSONValue.object(page).description.utf8)
  }
}
