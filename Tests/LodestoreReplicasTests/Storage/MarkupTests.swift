import Foundation
import Testing

@testable import LodestoreReplicas

/// The reader of XML, on the answers of services and on hostile bytes.
@Suite struct MarkupTests {
  private func root(_ text: String) throws -> MarkupElement {
    try MarkupReader.root(of: Array(text.utf8))
  }

  /// Answers as the services sent them: moto 5.2.1, SeaweedFS 4.48 and rclone 1.75.2.
  static let answers = [
    """
    <?xml version="1.0" encoding="utf-8"?>
    <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>true</IsTruncated>\
    <Contents><Key>p/log/1</Key><LastModified>2026-11-29T01:33:37.000Z</LastModified>\
    <ETag>"35d6d33467aae9a2e3dccb4b6b027878"</ETag><Size>5</Size></Contents></ListBucketResult>
    """,
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix></Prefix>\
    <IsTruncated>true</IsTruncated><Contents><Key>p/log/1</Key>\
    <ETag>&#34;35d6d33467aae9a2e3dccb4b6b027878&#34;</ETag><Size>5</Size></Contents></ListBucketResult>
    """,
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <IsTruncated>true</IsTruncated>
      <Contents>
        <Key>p/log/1</Key>
        <ETag>35d6d33467aae9a2e3dccb4b6b027878</ETag>
        <Size>5</Size>
      </Contents>
    </ListBucketResult>
    """,
  ]

  @Test(arguments: answers)
  func `the lists of all services are read alike`(from answer: String) throws {
    let page = try S3Answers.page(Array(answer.utf8), start: "p/log/", dropping: 2, after: nil)
    #expect(!page.isLast)
    #expect(
      page.entries == [
        ObjectPage.Entry(
          key: "log/1",
          head: ObjectHead(byteCount: 5, tag: ObjectTag("\"35d6d33467aae9a2e3dccb4b6b027878\"")))
      ])
  }

  @Test func `text has its references and sections resolved`() throws {
    let found = try root(
      "<?x?><!-- <a> --><s:a n='>' m = \"/>\"><b/>1 &lt;&#x41;&#66;&amp;<![CDATA[<&]]>2<c>3</c ></s:a>\n"
    )
    #expect(found.name == "a")
    #expect(found.text == "1 <AB&<&2")
    #expect(found.children.map(\.name) == ["b", "c"])
    #expect(found.text(of: "c") == "3")
  }

  @Test(arguments: [
    "", " ", "text", "<", "<a", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a/>x", "x<a/>", "<a b/>",
    "<a b=c/>", "<a b='/>", "<a>&b;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#x110000;</a>",
    "<a>&#+5;</a>", "<a>&lt</a>", "<a>&</a>", "<!DOCTYPE a><a/>", "<a><!ENTITY b 'c'></a>",
    "<a><![CDATA[</a>", "<a><!-- </a>", "<a><b></a></b>", "<a b='c'd='e'/>",
    "<a>&#99999999999;</a>",
  ])
  func `what is no document is refused`(of text: String) {
    #expect(throws: MarkupError.self) { try root(text) }
  }

  @Test func `depth, elements and bytes are limited`() throws {
    let depth = MarkupReader.depthLimit
    func nested(_ count: Int) -> String {
      String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count)
    }
    #expect(throws: Never.self) { try root(nested(depth)) }
    #expect(throws: MarkupError.self) { try root(nested(depth + 1)) }
    #expect(throws: MarkupError.self) { try root(nested(100_000)) }
    let wide = String(repeating: "<b/>", count: MarkupReader.elementLimit)
    #expect(throws: MarkupError.self) { try root("<a>\(wide)</a>") }
    let large = [UInt8](repeating: 0x20, count: MarkupReader.byteLimit + 1)
    #expect(throws: MarkupError.self) { try MarkupReader.root(of: large) }
    #expect(throws: MarkupError.self) {
      try MarkupReader.root(of: [0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E])
    }
  }

  @Test func `changed answers are read or refused, and never trap`() {
    var random = SeededRandom(seed: 11)
    var read = 0
    for round in 0..<SeededChanges.caseCount(byDefault: 2_000) {
      var bytes = Array(Self.answers[round % Self.answers.count].utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(place...)
        case 2: bytes.insert(contentsOf: "<>&;\"'/![#x".utf8.shuffled(using: &random), at: place)
        default: bytes.remove(at: place)
        }
        if bytes.isEmpty { bytes = [0x3C] }
      }
      if (try? S3Answers.page(bytes, start: "p/", dropping: 2, after: nil)) != nil { read += 1 }
      _ = S3Answers.Refusal(status: 500, body: bytes)
    }
    #expect(read > 100)
  }

  static let badLists: [(String, String)] = [
    ("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "an empty page"),
    ("<ListBucketResult></ListBucketResult>", "no ListBucketResult with IsTruncated"),
    ("<Error><Code>X</Code></Error>", "no ListBucketResult"),
    ("<html><body>Hello</body></html>", "no ListBucketResult"),
    (list("p/b", "p/a"), "the key 'p/a' after 'p/b'"),
    (list("p/a", "p/a"), "the key 'p/a' after 'p/a'"),
    (list("q/a"), "the key 'q/a', expected one that begins with 'p/'"),
    (list("p/0"), "the key 'p/0' after 'p/1'"),
  ]

  @Test(arguments: badLists)
  func `a list that breaks its rules is refused`(of text: String, because reason: String) {
    let after = reason.contains("'p/1'") ? "p/1" : nil
    let error = #expect(throws: S3Answers.BadList.self) {
      try S3Answers.page(Array(text.utf8), start: "p/", dropping: 2, after: after)
    }
    #expect(error?.reason.contains(reason) == true, "\(String(describing: error))")
  }

  /// The roots that AWS documents, and that moto 5.2.0 and 5.2.1 send.
  @Test(arguments: ["CompleteMultipartUploadResult", "CompleteMultipartUploadResponse"])
  func `a completion is known by its tag`(under root: String) {
    let answer = S3Answers.completion(
      Array("<\(root)><Key>a</Key><ETag>\"t\"</ETag></\(root)>".utf8))
    guard case .tag(let tag) = answer else {
      Issue.record("no tag: \(answer)")
      return
    }
    #expect(tag.text == "\"t\"")
  }

  @Test(arguments: [
    "<html><ETag>t</ETag></html>", "<CompleteMultipartUploadResult/>", "", "busy",
    "<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>",
  ])
  func `an answer without a tag completes nothing`(_ text: String) {
    guard case .unreadable = S3Answers.completion(Array(text.utf8)) else {
      Issue.record("read: \(text)")
      return
    }
  }

  static func list(_ keys: String...) -> String {
    "<ListBucketResult><IsTruncated>false</IsTruncated>"
      + keys.map { "<Contents><Key>\($0)</Key><Size>1</Size><ETag>e</ETag></Contents>" }.joined()
      + "</ListBucketResult>"
  }

  @Test func `markers of folders are no objects`() throws {
    let page = try S3Answers.page(
      Array(Self.list("p/", "p/a", "p/b/").utf8), start: "p/", dropping: 2, after: nil)
    #expect(page.entries.map(\.key) == ["a"])
  }
}
