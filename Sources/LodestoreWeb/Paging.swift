extension WebPages {
  /// How a service names the page after a page.
  ///
  /// Paths in a page are dotted, as `meta.next` or `links.0.href`. An absent value, `null`, `false`
  /// and the empty string mean that there is no next page.
  ///
  /// A page whose next page cannot be found is passed on first; the failure is thrown when the next
  /// page is asked for. An import that resumes asks for that page again.
  public struct Paging: Sendable, Hashable {
    enum Form: Sendable, Hashable {
      case single
      case pageNumber(PageNumbers)
      case nextLink(path: String)
      case linkHeader
      case cursor(parameter: String, path: String)
    }

    let form: Form

    /// One page, the address itself.
    public static let single = Paging(form: .single)

    /// Pages that have a number in the address's query.
    ///
    /// ``Options/pagesInFlight`` of them are asked for at once. Pages that are not JSON are passed
    /// on as they are and do not end the pages. A page with the content of the page before it fails
    /// with ``WebSourceError/Code/repeatedPage``, because the service ignores the number, or ends
    /// the pages where ``Options/endsAtRepeatedPage`` says so.
    ///
    /// - Parameters:
    ///   - parameter: the name of the number in the query.
    ///   - first: the number of the first page.
    ///   - size: how many records to ask for, where the service lets one choose.
    ///   - end: the sign of the last page.
    ///   - others: further signs of the last page; the first one found counts.
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

    /// The address of the next page is in the header field `Link`, with `rel="next"`: RFC 8288.
    public static let linkHeader = Paging(form: .linkHeader)

    /// A text or an integer in the page goes into the query of the next.
    public static func cursor(parameter: String, at path: String) -> Paging {
      Paging(form: .cursor(parameter: parameter, path: path))
    }

    /// How many records of a page to ask for, and by which name in the query.
    public struct Size: Sendable, Hashable {
      /// The name in the query.
      package var parameter: String
      /// Records of a page.
      package var count: Int

      /// A number of records under a name.
      public init(_ parameter: String, _ count: Int) {
        self.parameter = parameter
        self.count = count
      }
    }

    /// The sign by which a client knows the last numbered page.
    public struct End: Sendable, Hashable {
      enum Form: Sendable, Hashable {
        case emptyPage(path: String)
        case pageCount(path: String)
        case recordCount(path: String, pageSize: Int)
        case notFound
      }

      let form: Form

      /// A page with no records; `records` is the path of their array, empty when it is the page.
      public static func emptyPage(records path: String) -> End {
        End(form: .emptyPage(path: path))
      }

      /// The number of pages, which each page has at `path`.
      public static func pageCount(at path: String) -> End { End(form: .pageCount(path: path)) }

      /// The number of all records, which each page has at `path`, `pageSize` of them a page.
      public static func recordCount(at path: String, pageSize: Int) -> End {
        End(form: .recordCount(path: path, pageSize: max(pageSize, 1)))
      }

      /// The status 404 for a page after the first.
      public static let notFound = End(form: .notFound)
    }
  }
}

/// Pages by number.
struct PageNumbers: Sendable, Hashable {
  /// Above it a number is not exact in every reader of JSON.
  static let greatest = 1 << 53

  var parameter: String
  var first: Int
  var size: WebPages.Paging.Size?
  var ends: [WebPages.Paging.End]
}
