extension WebPages {
  /// The way in which a service names the page after a page.
  ///
  /// Paths within a page are dotted, such as `meta.next` or `links.0.href`. An absent value,
  /// `null`, `false` and the empty string mean that there is no next page.
  ///
  /// If the next page cannot be found, the page itself is returned first, and the error is thrown
  /// when the next page is requested. A resumed import requests that page again.
  public struct Paging: Sendable, Hashable {
    enum Form: Sendable, Hashable {
      case single
      case pageNumber(PageNumbers)
      case nextLink(path: String)
      case linkHeader
      case cursor(parameter: String, path: String)
    }

    let form: Form

    /// A single page at the source's address.
    public static let single = Paging(form: .single)

    /// Pages with a number in the address's query.
    ///
    /// Up to ``Options/pagesInFlight`` pages are requested at once. Pages that are not JSON are
    /// returned unchanged and do not end the pages. A page with the content of the page before it
    /// means that the service ignores the number. Such a page fails with
    /// ``WebSourceError/Code/repeatedPage``, or ends the pages if ``Options/endsAtRepeatedPage`` is
    /// true.
    ///
    /// - Parameters:
    ///   - parameter: The name of the page number in the query.
    ///   - first: The number of the first page.
    ///   - size: The number of records to request for each page, if the service supports that.
    ///   - end: The sign of the last page.
    ///   - others: Further signs of the last page. The first sign found counts.
    public static func pageNumber(
      parameter: String = "page", first: Int = 1, size: Size? = nil, endsAt end: End,
      _ others: End...
    ) -> Paging {
      let numbers = PageNumbers(
        parameter: parameter, first: min(max(first, 0), PageNumbers.greatest), size: size,
        ends: [end] + others)
      return Paging(form: .pageNumber(numbers))
    }

    /// The address of the next page is a text in the page, absolute or relative to the page.
    public static func nextLink(at path: String) -> Paging { Paging(form: .nextLink(path: path)) }

    /// The address of the next page is in the header field `Link` with `rel="next"`: RFC 8288.
    public static let linkHeader = Paging(form: .linkHeader)

    /// A text or integer in the page becomes a parameter of the next page's query.
    public static func cursor(parameter: String, at path: String) -> Paging {
      Paging(form: .cursor(parameter: parameter, path: path))
    }

    /// The number of records to request for each page, and its name in the query.
    public struct Size: Sendable, Hashable {
      /// The name in the query.
      package var parameter: String
      /// The number of records for each page.
      package var count: Int

      /// Creates a size from the name in the query and the number of records.
      public init(_ parameter: String, _ count: Int) {
        self.parameter = parameter
        self.count = count
      }
    }

    /// The sign by which this library recognizes the last numbered page.
    public struct End: Sendable, Hashable {
      enum Form: Sendable, Hashable {
        case emptyPage(path: String)
        case pageCount(path: String)
        case recordCount(path: String, pageSize: Int)
        case notFound
      }

      let form: Form

      /// The last page is a page without records.
      ///
      /// `records` is the path of their array, empty if the page itself is the array.
      public static func emptyPage(records path: String) -> End {
        End(form: .emptyPage(path: path))
      }

      /// Each page states the number of pages at `path`.
      public static func pageCount(at path: String) -> End { End(form: .pageCount(path: path)) }

      /// Each page states the number of all records at `path`.
      ///
      /// A page has `pageSize` records.
      public static func recordCount(at path: String, pageSize: Int) -> End {
        End(form: .recordCount(path: path, pageSize: max(pageSize, 1)))
      }

      /// The service answers with status 404 for a page after the first.
      public static let notFound = End(form: .notFound)
    }
  }
}

/// The parameters of numbered pages.
struct PageNumbers: Sendable, Hashable {
  /// The highest page number.
  ///
  /// Some services read numbers as doubles, which do not represent every integer above this one.
  static let greatest = 1 << 53

  var parameter: String
  var first: Int
  var size: WebPages.Paging.Size?
  var ends: [WebPages.Paging.End]
}
