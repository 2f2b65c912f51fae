#if Postgres
  internal import EntityStore
  internal import LodestoreFormat

  /// Compares tables with the entities of a store, and declares entities for the tables.
  struct TableMapping {
    let store: Store

    /// Declares a missing entity, and changes an entity that an earlier copy has declared.
    ///
    /// Other entities stay as they are: another program may have types for them.
    ///
    /// - Parameter own: the names of the entities that the source has declared.
    func declare(_ plan: TablePlan, _ own: inout Set<String>) throws {
      let dynamic = DynamicStore(store)
      let stored = dynamic.entities.first { $0.name == plan.entity }?.description
      let isOwn = own.contains(plan.entity) && !dynamic.isDeclaredByProgram(plan.entity)
      guard stored == nil || isOwn else { return }
      try dynamic.declare([try declared(plan, stored)])
      own.insert(plan.entity)
    }

    /// Returns the plan with the types of the entity's attributes.
    func mapped(_ plan: TablePlan) throws -> TablePlan {
      let dynamic = DynamicStore(store)
      let found = dynamic.entities.first { $0.name == plan.entity }
      guard let entity = found?.description else {
        throw refusal(plan.table, "has lost its entity '\(plan.entity)'; call copyAgain(into:)")
      }
      var plan = plan
      for position in plan.columns.indices {
        let column = plan.columns[position]
        guard let attribute = entity.attribute(named: column.attribute) else {
          throw PostgresError(
            .badMapping,
            "'\(plan.entity)' has no attribute '\(column.attribute)' for \(plan.table.label)."
              + "\(column.name); declare it, name another one, or ignore the column",
            table: plan.table.label, column: column.name)
        }
        guard column.type.fits(attribute.type) else {
          throw PostgresError(
            .badMapping,
            "\(plan.table.label).\(column.name) is \(column.type.name), and '\(plan.entity)."
              + "\(attribute.name)' is \(attribute.type.name); declare the attribute as "
              + "\(column.type.attributeType?.name ?? "another type")",
            table: plan.table.label, column: column.name)
        }
        plan.columns[position].attributeType = attribute.type
        plan.columns[position].isOptional = attribute.isOptional
      }
      let given = Set(plan.attributes)
      let missing = entity.declaredAttributes.first {
        !$0.isOptional && $0.derivation == nil && $0.defaultValue == .null
          && !given.contains($0.name)
      }
      if let missing {
        throw refusal(
          plan.table,
          "has no column for the required attribute '\(plan.entity).\(missing.name)'; map a column "
            + "to it, or give it a default")
      }
      return plan
    }

    /// The declaration of an entity for a table.
    ///
    /// - Parameter stored: the entity as an earlier copy has declared it; `nil` for none. Its
    ///   records have no value of a new attribute, which is therefore optional.
    private func declared(
      _ plan: TablePlan, _ stored: EntityDescription?
    ) throws -> DeclaredEntity {
      let names = Set(plan.attributes)
      return try DeclaredEntity(
        name: plan.entity,
        attributes: plan.columns.map { column in
          let known = stored?.attribute(named: column.attribute)
          let isNew = stored != nil && known == nil
          return DeclaredEntity.Attribute(
            name: column.attribute,
            storage: AttributeStorage(
              type: column.attributeType,
              isOptional: column.isOptional || isNew || known?.isOptional == true))
        }, indexes: [DeclaredEntity.DeclaredIndex(attributes: plan.key, isUnique: true)],
        removed: stored?.declaredAttributes.map(\.name).filter { !names.contains($0) } ?? [])
    }

    private func refusal(_ table: PostgresTable, _ reason: String) -> PostgresError {
      PostgresError(.badMapping, "\(table.label) \(reason)", table: table.label)
    }
  }
#endif
