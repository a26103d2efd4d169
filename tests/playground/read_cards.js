// Reads a JSON list of Adaptive Cards from stdin with Microsoft's parser, and writes what it finds wrong with each.
// The parser's package is written for browsers, where `self` is the global object.
globalThis.self = globalThis;
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { AdaptiveCard, SerializationContext, Versions } = require(
  join(process.argv[2], "adaptivecards", "dist", "adaptivecards.js"),
);

function findFaults(payload) {
  const context = new SerializationContext(Versions.v1_5);
  const card = new AdaptiveCard();
  card.parse(payload, context);
  const parsed = Array.from({ length: context.eventCount }, (_, index) => context.getEventAt(index));
  return [...parsed, ...card.validateProperties().validationEvents].map((event) => event.message);
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(findFaults)));
