#if Macros

  import SwiftCompilerPlugin
  import SwiftSyntaxMacros

  struct EntityMacro: EntityExpanding {}
  struct AttributeMacro: MarkerExpanding { static let name = "@Attribute" }
  struct RelationshipMacro: MarkerExpanding { static let name = "@Relationship" }
  struct DerivedMacro: MarkerExpanding { static let name = "@Derived" }
  struct TransientMacro: MarkerExpanding { static let name = "@Transient" }
  struct IndexMacro: IndexExpanding {}

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
      EntityMacro.self, AttributeMacro.self, RelationshipMacro.self, DerivedMacro.self,
      TransientMacro.self, IndexMacro.self,
    ]
  }
#else
  // A macro target must have a main type. Without the trait `Macros` it is empty, because the
  // package description cannot leave the target out.
  @main
  struct Plugin {
    static func main() {}
  }
#endif
