// Loaded before the Playground, which would listen on all interfaces: everything listens on 127.0.0.1.
const { Server } = require("node:net");

const listen = Server.prototype.listen;

Server.prototype.listen = function (...values) {
  const ready = values.find((value) => typeof value === "function");
  const first = values[0];
  const isPort = typeof first === "number" || (typeof first === "string" && /^\d+$/.test(first));
  if (isPort) return listen.call(this, { port: Number(first), host: "127.0.0.1" }, ready);
  if (first !== null && typeof first === "object" && "port" in first) {
    return listen.call(this, { ...first, host: "127.0.0.1" }, ready);
  }
  return listen.apply(this, values);
};
