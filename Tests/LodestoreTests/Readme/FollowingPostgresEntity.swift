#if Macros
  import Lodestore
  import Testing

  // The entity of the article "A local copy of a PostgreSQL database".

  @Entity struct Customer {
    #Unique<Customer>([\.number])
    var number: Int64
    var name: String
  }

  @Test func `the entity of the article on PostgreSQL has a unique number`() throws {
    let store = try Store.inMemory(entities: [Customer.self])
    defer { store.close() }
    try store.insert(Customer(number: 1, name: "Ada"))
    #expect(throws: StoreError.self) { try store.insert(Customer(number: 1, name: "Bob")) }
  }
#endif
