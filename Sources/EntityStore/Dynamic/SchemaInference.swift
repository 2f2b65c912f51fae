package import LodestoreFormat

/// Works out the attributes of an entity from the JSON records that are to become its records.
///
/// A member is bool, int64, uint64, double or string where all its values are, and JSON where they
/// differ or are arrays or objects. Integers and other numbers together are double if each integer is
/// exactly a double. It is optional where it is absent or null. Strings stay strings: what
/// looks like a date is not taken for one.
package struct SchemaInference {
  private struct Member {
    var kinds: Kinds = []
    var presentCount = 0
    var integersAreDoubles = true
  }

  private struct Kinds: OptionSet {
    let rawValue: UInt8
    static let bool = Kinds(rawValue: 1)
    static let integer = Kinds(rawValue: 2)
    static let negative = Kinds(rawValue: 4)
    static let unsigned = Kinds(rawValue: 8)
    static let double = Kinds(rawValue: 16)
    static let string = Kinds(rawValue: 32)
    static let nested = Kinds(rawValue: 64)
  }

  private var members: [Member] = []
  private var indexByName: [String: Int] = [:]
  /// The members in the order in which they first came.
  package private(set) var names: [String] = []
  /// How many records were looked at.
  package private(set) var recordCount = 0

  /// The paths into members that count as members.
  private let paths: [String]
  /// Members that are looked into, and not taken themselves.
  private let roots: Set<String>

  /// - Parameter mapped: the names of members that a person has named; paths among them are followed.
  package init(mapped: [String] = []) {
    paths = mapped.filter(MemberPath.isPath).sorted()
    roots = Set(paths.map(MemberPath.root)).subtracting(mapped)
  }

  /// Takes one record into account; a value that is no record is ignored, as the import rejects it.
  package mutating func observe(_ record: JSONRecord) {
    var seen: [(String, JSONNode)] = []
    guard record.forEachMember({ name, node in seen.append((name, node)) }) == nil else { return }
    recordCount += 1
    let names = Set(paths.isEmpty ? [] : seen.map(\.0))
    for path in paths where !names.contains(path) {
      if let node = record.node[path: path] { seen.append((path, node)) }
    }
    for (name, node) in seen where !roots.contains(name) {
      let index = indexByName[name] ?? add(name)
      observe(node, at: index)
    }
  }

  private mutating func add(_ name: String) -> Int {
    indexByName[name] = members.count
    names.append(name)
    members.append(Member())
    return members.count - 1
  }

  private mutating func observe(_ node: JSONNode, at index: Int) {
    if node.isNull { return }
    members[index].presentCount += 1
    switch node.kind {
    case .null: break
    case .bool: members[index].kinds.insert(.bool)
    case .integer:
      if let number = node.int64 {
        members[index].kinds.insert(number < 0 ? [.integer, .negative] : .integer)
        if Double(exactly: number) == nil { members[index].integersAreDoubles = false }
      } else {
        members[index].kinds.insert(.unsigned)
        if node.uint64.flatMap({ Double(exactly: $0) }) == nil {
          members[index].integersAreDoubles = false
        }
      }
    case .double: members[index].kinds.insert(.double)
    case .string: members[index].kinds.insert(.string)
    case .array, .object: members[index].kinds.insert(.nested)
    }
  }

  /// The type of a member, and whether some record lacks it.
  package func attribute(_ name: String) -> (type: AttributeType, isOptional: Bool)? {
    guard let index = indexByName[name] else { return nil }
    return (type(of: members[index]), members[index].presentCount < recordCount)
  }

  private func type(of member: Member) -> AttributeType {
    switch member.kinds {
    case .bool: return .bool
    case .string: return .string
    case .integer, [.integer, .negative]: return .int64
    case .unsigned, [.integer, .unsigned]: return .uint64
    default: break
    }
    let numbers: Kinds = [.integer, .negative, .unsigned, .double]
    let isNumber = !member.kinds.isEmpty && member.kinds.isSubset(of: numbers)
    return isNumber && member.kinds.contains(.double) && member.integersAreDoubles ? .double : .json
  }
}
