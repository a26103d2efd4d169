"""Links what a model wrote to the schema and to the values of the visible documents."""
