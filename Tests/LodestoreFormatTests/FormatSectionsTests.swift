import Testing

/// The section numbers of Format.md are in order, because other documents cite them, and its links
/// lead to headings.
@Suite struct FormatSectionsTests {
  private struct Heading {
    var level: Int
    /// The number and the title, as `5.1 A page`.
    var text: Substring

    /// The anchor that web pages of Markdown files give the heading.
    var anchor: String {
      String(
        text.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
          .map { $0 == " " ? "-" : $0 })
    }
  }

  private static let headings: [Heading] = {
    var headings: [Heading] = []
    var isInBlock = false
    for line in FormatExamples.text.split(separator: "\n") {
      if line.hasPrefix("```") {
        isInBlock.toggle()
      } else if !isInBlock, line.hasPrefix("##"), line != "## Contents" {
        let level = line.prefix { $0 == "#" }.count
        headings.append(Heading(level: level, text: line.dropFirst(level + 1)))
      }
    }
    return headings
  }()

  @Test func `sections are numbered in their order`() {
    #expect(Self.headings.count > 30)
    var section = 0
    var subsection = 0
    for heading in Self.headings {
      if heading.level == 2 {
        section += 1
        subsection = 0
        #expect(heading.text.hasPrefix("\(section) "))
      } else {
        subsection += 1
        #expect(heading.level == 3 && heading.text.hasPrefix("\(section).\(subsection) "))
      }
    }
  }

  @Test func `the contents list every section`() throws {
    let text = FormatExamples.text
    let start = try #require(text.ranges(of: "\n## Contents\n").first).upperBound
    let contents = try #require(text[start...].split(separator: "\n## ").first)
    let expected = Self.headings.map { heading in
      (heading.level == 2 ? "- " : "  - ") + "[\(heading.text)](#\(heading.anchor))"
    }
    #expect(contents.split(separator: "\n").map(String.init) == expected)
  }

  @Test func `every link leads to a section`() {
    let anchors = Set(Self.headings.map(\.anchor))
    #expect(anchors.count == Self.headings.count)
    for link in FormatExamples.text.matches(of: /\]\(#([^)]*)\)/) {
      #expect(anchors.contains(String(link.1)), "\(link.0)")
    }
  }
}
