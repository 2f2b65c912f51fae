internal import EntityStore
internal import Foundation

/// The address of a page in its source.
struct PageAddress: Sendable, Hashable {
  var url: URL
  /// The name by which a stored position and the remembered state of the page identify the page.
  var name: String
  /// The number of a numbered page; `nil` for others.
  var number: Int?
}

/// The facts that a page states about the pages that follow it.
struct PagesBehind: Sendable {
  var next: PageAddress?
  /// The number of the last page of the source; `nil` if this page does not state it.
  var last: Int?
  /// The total number of pages, known if ``last`` is.
  var pageCount: Int?
  /// The reason why the next page cannot be found.
  ///
  /// `next` is `nil` in that case.
  var failure: WebSourceError?
}

/// Determines the page that follows another, by the paging of the source.
struct PageOrder: Sendable {
  let source: SourceAddress
  let paging: WebPages.Paging
  let limits: JSONLimits

  /// The first page of the source.
  var first: PageAddress {
    if case .pageNumber(let numbers) = paging.form { return page(numbers.first, numbers) }
    return address(source.url)
  }

  /// The page at a position; `nil` if this source cannot have returned the position.
  func address(at position: String) -> PageAddress? {
    let address: PageAddress?
    switch paging.form {
    case .single: address = first
    case .pageNumber(let numbers):
      address = source.page(named: position)
        .flatMap { QueryText.value(of: numbers.parameter, in: $0) }
        .flatMap { Self.number($0) }
        .flatMap { (numbers.first...PageNumbers.greatest).contains($0) ? page($0, numbers) : nil }
    case .cursor(let parameter, _):
      let cursor = source.page(named: position).flatMap { QueryText.value(of: parameter, in: $0) }
      address = cursor.map { page(behind: $0, parameter) } ?? first
    case .nextLink, .linkHeader: address = source.page(named: position).map { self.address($0) }
    }
    return address?.name == position ? address : nil
  }

  /// The pages after `page`, by the answer to its request.
  ///
  /// A wrong value or link is returned as ``PagesBehind/failure``, because the page itself is still
  /// valid.
  ///
  /// - Throws: ``WebSourceError/Code/unreadablePage`` if the page is not JSON.
  func following(_ page: PageAddress, _ answer: WebResponse) throws(WebSourceError) -> PagesBehind {
    do {
      return try reported(by: answer, at: page)
    } catch  where error.cause == nil {
      return PagesBehind(failure: error)
    }
  }

  private func reported(
    by answer: WebResponse, at page: PageAddress
  ) throws(WebSourceError) -> PagesBehind {
    switch paging.form {
    case .single: return PagesBehind()
    case .pageNumber(let numbers): return try following(page, numbers, answer)
    case .nextLink(let path):
      return PagesBehind(
        next: try text(at: path, page, answer).map { link throws(WebSourceError) in
          try linked(link, page, answer)
        })
    case .linkHeader:
      let link = answer.fields["link"].flatMap { LinkHeader.target("next", in: $0) }
      return PagesBehind(
        next: try link.map { link throws(WebSourceError) in try linked(link, page, answer) })
    case .cursor(let parameter, let path):
      let cursor = try text(at: path, page, answer)
      return PagesBehind(next: cursor.map { self.page(behind: $0, parameter) })
    }
  }

  /// The page after a numbered one; `nil` after the greatest number and for other kinds of paging.
  func following(_ page: PageAddress) -> PageAddress? {
    guard case .pageNumber(let numbers) = paging.form, let number = page.number,
      number < PageNumbers.greatest
    else { return nil }
    return self.page(number + 1, numbers)
  }

  /// Whether an absent page marks the end of the pages.
  func endsWithout(_ page: PageAddress, status: Int?) -> Bool {
    guard case .pageNumber(let numbers) = paging.form, let number = page.number else {
      return false
    }
    return status == 404 && number > numbers.first && numbers.ends.contains(.notFound)
  }

  private func address(_ url: URL) -> PageAddress {
    PageAddress(url: url, name: source.name(of: url))
  }

  private func page(_ number: Int, _ numbers: PageNumbers) -> PageAddress {
    var values = [(name: numbers.parameter, value: "\(number)")]
    if let size = numbers.size { values.append((size.parameter, "\(size.count)")) }
    var address = address(source.page(with: values))
    address.number = number
    return address
  }

  private func page(behind cursor: String, _ parameter: String) -> PageAddress {
    address(source.page(with: [(parameter, cursor)]))
  }

  private static func number(_ text: String) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
}

// MARK: - The content of a page

extension PageOrder {
  private func following(
    _ page: PageAddress, _ numbers: PageNumbers, _ answer: WebResponse
  ) throws(WebSourceError) -> PagesBehind {
    var last: Int?
    // A page that is not JSON does not end the pages here: it is passed on, and the importer
    // refuses it.
    if numbers.ends != [.notFound],
      let root = try? JSONDocument.parsing(answer.body, limits: limits).root
    {
      for end in numbers.ends {
        guard let found = try lastNumber(root, end, page, numbers) else { continue }
        last = min(last ?? found, found)
      }
    }
    let isLast = last.map { $0 <= page.number ?? 0 } ?? false
    return PagesBehind(
      next: isLast ? nil : following(page), last: last,
      pageCount: last.map { max(0, $0 - numbers.first + 1) })
  }

  /// The number of the last page according to one sign of the end; `nil` if this page does not have
  /// the sign.
  private func lastNumber(
    _ root: JSONNode, _ end: WebPages.Paging.End, _ page: PageAddress, _ numbers: PageNumbers
  ) throws(WebSourceError) -> Int? {
    let shown = source.shown(page.url)
    let pages: UInt64
    switch end.form {
    case .notFound: return nil
    case .emptyPage(let path):
      guard let records = root[path: path], records.kind == .array else {
        throw .unfitValue(shown, path: path, found: root[path: path], expected: "an array")
      }
      return records.count == 0 ? page.number : nil
    case .pageCount(let path): pages = try count(at: path, root, shown)
    case .recordCount(let path, let pageSize):
      let records = try count(at: path, root, shown)
      pages = records / UInt64(pageSize) + (records.isMultiple(of: UInt64(pageSize)) ? 0 : 1)
    }
    let (last, isOver) = Int(clamping: pages).addingReportingOverflow(numbers.first - 1)
    return isOver ? PageNumbers.greatest : last
  }

  private func count(
    at path: String, _ root: JSONNode, _ shown: URL
  ) throws(WebSourceError) -> UInt64 {
    guard let count = root[path: path]?.uint64 else {
      throw .unfitValue(
        shown, path: path, found: root[path: path], expected: "an integer that is not negative")
    }
    return count
  }

  /// The text or integer at a path; `nil` for an absent value, `null`, `false` and the empty text.
  private func text(
    at path: String, _ page: PageAddress, _ answer: WebResponse
  ) throws(WebSourceError) -> String? {
    let shown = source.shown(page.url)
    let root: JSONNode
    do {
      root = try JSONDocument.parsing(answer.body, limits: limits).root
    } catch {
      throw .notJSON(shown, path: path, error)
    }
    guard let node = root[path: path], !node.isNull, node.bool != false else { return nil }
    if let text = node.string { return text.isEmpty ? nil : text }
    guard case .cursor = paging.form, node.kind == .integer, let digits = node.numberText else {
      throw .unfitValue(shown, path: path, found: node, expected: "a text or null")
    }
    return digits
  }

  private func linked(
    _ link: String, _ page: PageAddress, _ answer: WebResponse
  ) throws(WebSourceError) -> PageAddress {
    guard let url = source.page(linked: link, from: answer.url) else {
      let target = URL(string: link, relativeTo: answer.url)
        .flatMap { SourceAddress.plain($0.absoluteURL) }
      throw .unusableLink(
        source.shown(page.url), target: target.map { source.shown($0) }, home: source.url)
    }
    return address(url)
  }
}
