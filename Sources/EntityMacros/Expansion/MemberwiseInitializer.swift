#if Macros
  import SwiftSyntax

  // The generated decoding calls the memberwise initializer if the struct certainly has one,
  // because this is faster. An initializer that sets the properties one by one ends with a copy of
  // the whole value. The copy retains and releases every string, because the compiler does not
  // optimize across a large `self`.

  extension StructDeclSyntax {
    /// Whether the compiler writes an initializer that takes the stored properties in their order.
    ///
    /// False also if other attached macros could add an initializer.
    var hasMemberwiseInitializer: Bool {
      attributes.areAll(among: ["Entity", "available", "frozen", "dynamicMemberLookup"])
        && memberBlock.members.keepMemberwiseInitializer
    }
  }

  extension MemberBlockItemListSyntax {
    fileprivate var keepMemberwiseInitializer: Bool {
      allSatisfy { member in
        if member.decl.is(InitializerDeclSyntax.self) { return false }
        if let variable = member.decl.as(VariableDeclSyntax.self) {
          return variable.isStatic || variable.isPlainParameter
        }
        if let macro = member.decl.as(MacroExpansionDeclSyntax.self) {
          return DeclarationReader.markers.contains(macro.macroName.text)
        }
        guard let condition = member.decl.as(IfConfigDeclSyntax.self) else { return true }
        return condition.clauses.allSatisfy { clause in
          guard case .decls(let members) = clause.elements else { return true }
          return members.keepMemberwiseInitializer
        }
      }
    }
  }

  extension VariableDeclSyntax {
    /// Whether the memberwise initializer takes each of these properties as an ordinary parameter,
    /// or certainly has no parameter for it.
    ///
    /// The result is false for property wrappers and `init` accessors. The result is also false for
    /// a private property with a default value, which may be left out of the parameters (SE-0502).
    fileprivate var isPlainParameter: Bool {
      let isHidden =
        access?.tokenKind == .keyword(.private) || access?.tokenKind == .keyword(.fileprivate)
      return attributes.areAll(among: [
        "Attribute", "Relationship", "Derived", "Transient", "available",
      ])
        && bindings.allSatisfy { binding in
          !(isHidden && binding.initializer != nil) && !binding.hasInitAccessor
        }
    }
  }

  extension PatternBindingSyntax {
    fileprivate var hasInitAccessor: Bool {
      guard case .accessors(let accessors) = accessorBlock?.accessors else { return false }
      return accessors.contains { $0.accessorSpecifier.tokenKind == .keyword(.`init`) }
    }
  }

  extension AttributeListSyntax {
    fileprivate func areAll(among names: Set<String>) -> Bool {
      allSatisfy { element in
        guard case .attribute(let attribute) = element, let name = attribute.plainName else {
          return false
        }
        return names.contains(name)
      }
    }
  }
#endif
