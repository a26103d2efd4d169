"""Questions to the demo corpus by kind, for counting what each kind asks of an index."""

QUESTIONS_BY_KIND = {
    "look-up of a value": (
        "What is the boiling point of toluene?",
        "Who is the vendor on receipt 00001?",
    ),
    "look-up in text": (
        "How often must the air filter of the B-120 be replaced?",
        "What torque do the terminal bolts of the U-40 need?",
        "What does alarm E07 mean on the N-30?",
    ),
    "text of all buckets": (
        "What happens when the insulation resistance is too low?",
        "Who may inspect the books?",
    ),
    "steps": (
        "What are the maintenance steps for the B-120?",
        "How do I tighten the terminal bolts of the B-140?",
    ),
    "searched again": (
        "How long is the notice period of contract C-1001?",
        "How is a leaking battery handled?",
    ),
    "list": (
        "Show me all tyre receipts from Reifen Köhler in 2024",
        "ACME contracts of 2023 with a notice period of at least 60 days",
        "Solvents with a boiling point below 0 °C",
    ),
    "list, too long": (
        "List every tire purchase receipt",
        "All contracts in euros",
        "Every NPN transistor",
    ),
    "nothing found": (
        "Contracts with ACME for 2031",
        "SOT-23 transistors with a current above 20 A",
    ),
    "two readings": (
        "What is the governing law of the lease contract with ACME?",
        "How often must the air filter of the battery cabinet be replaced?",
    ),
    "number": (
        "How much was spent on tires in 2024?",
        "What is the average price of transistors in DPAK?",
        "Which ketone has the highest boiling point?",
    ),
    "groups": (
        "Top five vendors by total for tires in dollars",
        "Number of contracts per governing law",
        "Sum of the total of tire receipts in EUR by month in 2023",
    ),
}
