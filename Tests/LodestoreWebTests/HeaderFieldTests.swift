import Testing

@testable import LodestoreWeb

@Suite struct `The header field Link` {
  @Test(arguments: [
    ("<a>; rel=next", "a"), ("<a>;rel=\"next\"", "a"), ("<a>; REL=NeXt", "a"),
    ("<a>; rel=\"prev next\"", "a"), ("<a>; rel=prev, <b>; rel=next", "b"),
    ("<a,b;c>; rel=next", "a,b;c"),
    ("<a>; title=\"x, <y>; rel=next\"; rel=prev, <b>; rel=next", "b"),
    ("<a>; title=\"\\\"\"; rel=next", "a"), ("<a>; rel = next", "a"), (" , ,<a> ; rel=next ,", "a"),
    ("<>; rel=next", ""), ("<a>; rel=\"next", "a"), ("<a>; x; rel=next", "a"),
  ])
  func `the header field Link names the next page`(_ field: String, _ target: String) {
    #expect(LinkHeader.target("next", in: field) == target)
  }

  @Test(arguments: [
    "", "<", "<a", "a; rel=next", "<a>", "<a>;", "<a>; rel", "<a>; rel=",
    "<a>; rel=prev; rel=next", "<a>; rel=next; anchor=\"/b\"", "<a>; rel=nextpage", ";", ",",
    "<a>; rel=\"",
    "<a>; title*=UTF-8''next",
  ])
  func `a header field without a usable link names no next page`(_ field: String) {
    #expect(LinkHeader.target("next", in: field) == nil)
  }
}

@Suite struct `Dates of header fields` {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "sun, 6 nov 1994 08:49:37 gmt",
  ])
  func `dates of header fields have three forms`(_ text: String) {
    #expect(HTTPDate.seconds(text) == 784_111_777)
  }

  @Test func `dates of every month agree with the calendar`() {
    #expect(HTTPDate.seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
    #expect(HTTPDate.seconds("Thu, 29 Feb 2024 23:59:59 GMT") == 1_709_251_199)
    #expect(HTTPDate.seconds("Fri, 01 Mar 2024 00:00:00 GMT") == 1_709_251_200)
    #expect(HTTPDate.seconds("Tue, 31 Dec 2999 23:59:59 GMT") == 32_503_679_999)
  }

  @Test(arguments: [
    "", "0", "yesterday", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 32 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
    "Sun, +6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun\r\nX, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1869 08:49:37 GMT",
  ])
  func `invalid dates of header fields are nil`(_ text: String) {
    #expect(HTTPDate.seconds(text) == nil)
  }
}

@Suite struct `Header fields of any content` {
  @Test func `header fields of any content are read without a trap, and can be sent back`() {
    let pieces = [
      "<", ">", ";", ",", "=", "\"", "\\", " ", "\t", "\r\n", "\u{0}", "é", "rel", "next", "anchor",
      "W/",
      "Sun", "06", "Nov", "1994", "08:49:37", "GMT", "-", "99999999999999999999",
      "application/json",
      "+json", "/", "*",
    ]
    var generator = Numbers(state: 11)
    let timing = RetryTiming()
    for _ in 0..<20_000 {
      let field = (0..<Int.random(in: 0...9, using: &generator))
        .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      _ = LinkHeader.target("next", in: field)
      _ = ContentType.isTaken(field, others: [field])
      if let wait = timing.serverWait(field) { #expect(wait >= .zero && wait == wait.bounded) }
      let taken = Validators(entityTag: field, lastModified: field)
      for text in [taken.entityTag, taken.lastModified].compactMap({ $0 }) {
        #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(field)")
      }
    }
  }
}
