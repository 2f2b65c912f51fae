/// Faulty chains of a program that has nothing to do with the store.
///
/// The first four took between 3 and 34 seconds while there were overloads of `&&` and `||` for conditions.
enum UnrelatedChains {
  /// A program with `chain`.
  static func program(_ chain: String, importing module: String) -> String {
    """
    import \(module)
    struct Q {
      var a: Int?, b: Int, c: Int, d: Int?, e: Bool, f: Double, g: Double?
      var s: String, t: String?, k: [Int], m: [String: Int]
    }
    func tried(_ q: Q, _ x: Int, _ y: Double, _ n: String?) -> Bool {
      return \(chain)
    }
    """
  }

  static let all = [
    #"""
    q.t == nil && (q.g ?? 1) * 2 <= y && q.m["a"] == 3 && q.b + 3.5 * x > 2
    && q.f * 2 > 1 && (q.g ?? 1) * 2 <= y
    """#,
    #"""
    q.b == q.c || (q.d ?? "0") < 3 || q.b + 3 * x > 2 || q.e == true || q.t == nil
    || q.e || x - 1 == 2 || q.b + 3 * x > 2 || q.t == nil
    """#,
    #"""
    q.t == nil && q.a == 4 && q.s.hasPrefix("a") && q.b + 3.5 * x > 2 && q.a == 4
    && (q.d ?? 0) < 3 && q.g == 2.5 && q.c == 4 && q.k.contains(1)
    && x * 2 + q.b - 1 >= q.c % 3
    """#,
    #"""
    q.c == 4 && (q.d ?? "0") < 3 && q.s.hasPrefix("a") && (q.g ?? 1) * 2 <= y
    && x * 2 + q.b - 1 >= q.c % 3 && q.s.hasPrefix("a")
    """#,
    #"""
    q.a == 4 && q.b + 3 * x > 2 && (q.d ?? 0) < 3 && q.c == 4 && q.e && q.a != q.b
    && x - 1 == 2 && q.b / 2 == "3"
    """#,
    #"""
    q.b + 3*x == 4 && q.c == 4 && q.b == 5 && q.c == 6 && x == 3.5 && q.c == 4
    && q.b == 2
    """#,
    #"""
    q.a == 4 && q.b + 3 * x > 2 && (q.d ?? 0) < 3 && q.c == 4 && q.e && q.a != q.b
    && x - 1 == 2 && q.b / 2 == 3 && q.s
    """#,
    #"""
    q.a == 4 || q.b + 3 * x > 2 || (q.d ?? 0) < 3 || q.c == 4 || q.e || q.a != q.b
    || q.s == 3
    """#,
    #"q.a == nil || q.d == nil && q.b == "x" && q.c == 2"#,
    #"q.f * 2 + y > 3 && q.b * x == 4 && q.f == q.b"#,
    #"q.f * 2.5 + Double(x) > 3 && q.g == 4 && q.s == 2"#,
    #"q.s.hasPrefix("a") && q.s.count > 3 && q.k.count == "2""#,
    #"!q.e && q.a == 3 && !(q.b == 4) && !(q.s == 3)"#,
    #"q.a! + q.b == 3 && q.d! > 2 && q.c - q.f == 3"#,
    #"(q.a ?? 1) + (q.d ?? 2) == 3 && (q.g ?? 1.5) > 2 && (q.t ?? "a") == 3"#,
    #"q.a == 1 && q.a == 2 && q.a == 3 && q.a == 4 && q.a == 5 && q.a == "6""#,
    #"""
    q.b == 1 && q.b == 2 && q.b == 3 && q.b == 4 && q.b == 5 && q.b == 6 && q.b == 7
    && q.b == "8"
    """#,
    #"q.f + 1 == 2 && q.f - 2 > 3 && q.f * 2 < x && q.f / 2 >= 1"#,
    #"x > 1 && x < 10 && x != 5 && x >= 2 && x <= 9 && x == n"#,
    #"n == "a" || n == "b" || n == "c" || n == "d" || n == 5"#,
    #"q.e == true && q.e != false && q.e == 1 && q.b == 2"#,
    #"q.b % 2 == 0 && q.c % 3 == 1 && x & 1 == 0 && x | 2 == "2""#,
    #"-q.b == 3 && -x < 2 && -y > 1 && -q.s == 2"#,
    #"q.a == q.d && q.b == q.c && q.f == y && q.s == q.b"#,
    #"""
    q.a.map { $0 + 1 } == 3 && q.k.map { $0 * 2 } == [2, 4]
    && q.k.filter { $0 > 1 } == ["a"]
    """#,
    #"(q.b == 3 || q.c == 4) && (q.b == 5 || q.c == 6) && (q.e || q.s == 7)"#,
    #"[q.b, q.c, x].contains(3) && [q.s, n].contains(3) && q.e"#,
    #"x == 1 ? q.e : q.b == 2 && q.c == 3 && q.s == 4"#,
    #"q.b + q.c + x + 1 + 2 + 3 == 4 && q.f + y + 1 + 2 == 3 && q.b + q.f == 2"#,
    #"q.a == 4 && q.b + 3 * x > 2 && q.c == 4 && q.misspelt == 3"#,
    #"max(q.b, x) == 3 && min(q.f, y) < 2 && abs(q.b) == "1""#,
    #""\(q.b)" == "1" && "\(q.s)" == 2 && q.e"#,
  ]
}
