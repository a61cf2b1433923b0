/** `openclaw memory …` where the host's own memory is off, and `openclaw libravdb …` always. */
import { readFile, realpath } from "node:fs/promises";
import { search } from "./memory.js";

/** @import { Api, Command } from "./host.js" */
/** @import { Link } from "./link.js" */
/** @typedef {{ user?: string, agent?: string, limit?: string, session?: string, yes?: boolean }} Options */

const PATIENCE = { insist: true, timeoutMs: 60_000 };
const DESCRIPTION = "Look at, search and keep the memory of the LibraVDB daemon";

/** @param {Api} api @param {Link} link */
export function registerCli(api, link) {
  const names = isOff(api, "memory-core") ? ["libravdb", "memory"] : ["libravdb"];
  for (const name of names) {
    const descriptor = { name, description: DESCRIPTION, hasSubcommands: true };
    api.registerCli(({ program }) => commands(program.command(name).description(DESCRIPTION), link), { descriptors: [descriptor] });
  }
}

/** @param {Api} api @param {string} plugin */
function isOff(api, plugin) {
  return api.config?.plugins?.entries?.[plugin]?.enabled === false;
}

/** @param {Command} root @param {Link} link */
export function commands(root, link) {
  const owner = (/** @type {Options} */ { user, agent }) => (user ? { userId: user } : link.settings.where({ agentId: agent }));
  const owned = (/** @type {string} */ name, /** @type {string} */ about) =>
    root.command(name).description(about).option("--user <name>", "whose memory").option("--agent <id>", "the memory of this agent");

  root.command("status").description("Say whether the daemon answers, what it holds, and what waits for it").action(() =>
    run(async () => ({ endpoint: link.settings.endpoint, spool: await link.spool.state(), ...(await ask("status", {}).catch(unanswered)) })),
  );
  owned("search", "Find what was said").argument("<query>", "the question").option("--limit <n>", "how many", "6").action((query, options) =>
    run(() => search(link, owner(options), query, Number(options.limit))),
  );
  root.command("journal").description("What the host told of its sessions").option("--session <id>", "of one session").option("--limit <n>", "the newest so many", "50").action((options) =>
    run(() => ask("list_lifecycle_journal", { sessionId: options.session ?? "", limit: Number(options.limit) })),
  );
  owned("flush", "Erase everything of a user, for good").option("--yes", "do it").action((options) =>
    run(async () => {
      const namespace = (await ask("bootstrap_session", owner(options))).userId;
      if (!options.yes) throw new Error(`this erases all memory of ${namespace}; say --yes`);
      return { ...(await ask("flush_namespace", { namespace })), namespace };
    }),
  );
  owned("export", "Print all durable memory as JSON").action((options) =>
    run(async () => ask("export_memory", { namespace: (await ask("bootstrap_session", owner(options))).userId })),
  );
  owned("dream-promote", "Make memory of a dream diary").argument("<file>", "the diary, Markdown").action((file, options) =>
    run(async () => ask("promote_diary", { ...owner(options), sourceDoc: await realpath(file), text: await readFile(file, "utf8") })),
  );

  /** @param {string} method @param {object} params */
  function ask(method, params) {
    return link.daemon.call(method, params, PATIENCE);
  }

  /** @param {Error} error */
  function unanswered(error) {
    process.exitCode = 1;
    return { ok: false, error: error.message };
  }

  /** @param {() => Promise<unknown>} work */
  async function run(work) {
    try {
      console.log(JSON.stringify(await work(), null, 2));
    } catch (error) {
      console.error(error instanceof Error ? error.message : String(error));
      process.exitCode = 1;
    } finally {
      link.daemon.close();
    }
  }
}
