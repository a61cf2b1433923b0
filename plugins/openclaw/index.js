/** LibraVDB Memory for OpenClaw: a thin bridge from the host's memory and context-engine slots to the daemon. */
import { registerCli } from "./src/cli.js";
import { ID, engine } from "./src/engine.js";
import { registerHooks } from "./src/hooks.js";
import { linkOf } from "./src/link.js";
import { registerMemory } from "./src/memory.js";

/** @import { Api } from "./src/host.js" */

export default {
  id: ID,
  name: "LibraVDB Memory",
  description: "Local, exact memory and context engine; talks to the libravdb daemon.",
  /** Synchronous, and starts nothing: a connection is made when one is needed. @param {Api} api */
  register(api) {
    const link = linkOf(api);
    api.registerContextEngine(ID, () => engine(link));
    registerMemory(api, link);
    registerHooks(api, link);
    registerCli(api, link);
  },
};
