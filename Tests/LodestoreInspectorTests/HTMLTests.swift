import LodestoreRows
import Testing

@testable import LodestoreInspector

@Suite("Markup")
struct HTMLTests {
  private func text(_ html: HTML) -> String { String(decoding: html.bytes, as: UTF8.self) }

  @Test func `text stays text`() {
    let html = HTML(.p, .text(.title, #""><script>"#)) { "<script>alert('&')</script>" }
    #expect(
      text(html)
        == "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;script&gt;alert('&amp;')&lt;/script&gt;</p>")
  }

  @Test(arguments: [
    ("\u{202E}", "U+202E right-to-left override"), ("\u{200B}", "U+200B zero width space"),
    ("\0", "U+0000"), ("\u{1B}", "U+001B"), ("\u{85}", "U+0085"), ("\u{2066}", "U+2066"),
    ("\u{FEFF}", "U+FEFF"), ("\u{E0041}", "U+E0041"), ("\n", "U+000A"), ("\r\n", "U+000D"),
  ])
  func `an invisible character is a visible mark`(character: String, title: String) {
    let shown = text(HTML(text: "a\(character)b"))
    #expect(shown.contains("<span class=\"mark\" title=\"\(title)"))
    for scalar in character.unicodeScalars { #expect(!shown.unicodeScalars.contains(scalar)) }
  }

  @Test func `line ends and tabs stay in preformatted text`() {
    #expect(text(HTML(text: "a\n\tb\r\nc", keepsLines: true)) == "a\n\tb\nc")
    #expect(text(HTML(text: "a\rb", keepsLines: true)).contains(">CR</span>"))
  }

  @Test func `letters of all scripts, joiners and emoji are unchanged`() {
    let words = "سلام नमस्ते 👩‍👩‍👧 é ﷽ 𝒳"
    #expect(text(HTML(text: words)) == words)
  }

  @Test func `an attribute has the exact text`() {
    let html = HTML(.input, .text(.value, "a\u{202E}'\"<&\n"))
    #expect(text(html) == "<input value=\"a&#x202E;&#39;&quot;&lt;&amp;&#x000A;\">")
  }

  @Test func `values of every kind have no markup of their own`() {
    let hostile = "</td><img src=x onerror=alert(1)>"
    let cells: [Cell] = [
      .text(hostile), .date(hostile), .number(hostile), .json("[\"</code>\(hostile)\"]"),
      .bytes(Array(hostile.utf8)),
    ]
    for cell in cells {
      for html in [ItemMarkup.short(Item(cell)), ItemMarkup.full(field(cell))] {
        #expect(!text(html).contains("<img"))
      }
    }
  }

  private func field(_ cell: Cell) -> Field { Field(name: "a", type: "text", item: Item(cell)) }

  @Test func `names of nested members are text`() {
    let html = text(ItemMarkup.full(field(.json(#"{"<b>\u202e":[{"<i>":1}]}"#))))
    #expect(!html.contains("<b>") && !html.contains("<i>"))
    #expect(html.contains("&lt;b&gt;<span class=\"mark\""))
  }

  @Test func `a long text is cut in a table and complete on the page of its record`() {
    let long = String(repeating: "é", count: 500)
    #expect(text(ItemMarkup.short(Item(.text(long)))).count < 150)
    #expect(text(ItemMarkup.full(field(.text(long)))).contains(long))
  }
}
