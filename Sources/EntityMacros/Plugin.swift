#if Macros
  import SwiftCompilerPlugin
  import SwiftSyntaxMacros

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
      EntityMacro.self, AttributeMacro.self, RelationshipMacro.self, DerivedMacro.self,
      TransientMacro.self, IndexMacro.self,
    ]
  }
#else
  // A macro target is a program, and the package description cannot leave it out with the trait.
  @main
  struct Plugin {
    static func main() {}
  }
#endif
