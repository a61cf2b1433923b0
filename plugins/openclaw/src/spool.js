/**
 * What was said while nobody listened, on disk, and its delivery.
 *
 * Laws: once `say` returns, the daemon has it or the disk does. It arrives in the order in which it was said, at least
 * once; everything that waits here carries a key or may be repeated, so it counts once. What the daemon refuses for good
 * is laid aside in `refused` and blocks nothing. One file holds one call, written whole or not at all.
 */
import { mkdir, open, readFile, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Refused } from "./daemon.js";

/** @import { Daemon } from "./daemon.js" */
/** @typedef {{ method: string, params: object }} Call */

const AT_ONCE_MS = 2000;

export class Spool {
  /** @param {string} folder @param {Daemon} daemon @param {(text: string) => void} warn */
  constructor(folder, daemon, warn) {
    this.folder = folder;
    this.daemon = daemon;
    this.warn = warn;
    this.count = 0;
    this.mayWait = true;
    /** @type {Promise<unknown>} */
    this.turn = Promise.resolve();
  }

  /**
   * The daemon's answer; undefined when it waits on disk.
   * @param {string} method @param {object} params @param {number} [timeoutMs] @returns {Promise<any>}
   */
  say(method, params, timeoutMs) {
    return this.inTurn(async () => {
      if (await this.deliver()) {
        try {
          return await this.daemon.call(method, params, timeoutMs ? { timeoutMs } : {});
        } catch (error) {
          if (error instanceof Refused && error.forGood) throw error;
        }
      }
      await this.keep({ method, params });
      return undefined;
    });
  }

  /** Deliver what waits, as far as it goes in a moment. @returns {Promise<boolean>} whether nothing waits */
  catchUp() {
    return this.mayWait ? this.inTurn(() => this.deliver()) : Promise.resolve(true);
  }

  /** How many calls wait. */
  async waiting() {
    return (await this.names()).length;
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  inTurn(work) {
    const mine = this.turn.then(work);
    this.turn = mine.catch(() => {});
    return mine;
  }

  /** @param {Call} call */
  async keep(call) {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const moment = `${Date.now()}`.padStart(15, "0");
    const name = `${moment}-${`${++this.count}`.padStart(8, "0")}-${process.pid}.json`;
    const beside = join(this.folder, `.${name}`);
    const file = await open(beside, "wx", 0o600);
    try {
      await file.writeFile(JSON.stringify(call));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, join(this.folder, name));
    this.mayWait = true;
  }

  async deliver() {
    if (!this.mayWait) return true;
    const names = await this.names();
    const until = Date.now() + AT_ONCE_MS;
    for (const name of names) {
      if (Date.now() > until || !(await this.deliverOne(name))) return false;
    }
    this.mayWait = false;
    return true;
  }

  /** @param {string} name @returns {Promise<boolean>} whether it waits no more */
  async deliverOne(name) {
    const path = join(this.folder, name);
    try {
      /** @type {Call} */
      const call = JSON.parse(await readFile(path, "utf8"));
      await this.daemon.call(call.method, call.params);
    } catch (error) {
      const gone = error instanceof Error && "code" in error && error.code === "ENOENT"; // another process was faster
      if (gone) return true;
      if (!(error instanceof SyntaxError) && !(error instanceof Refused && error.forGood)) return false;
      await this.layAside(name, error.message);
      return true;
    }
    await unlink(path).catch(() => {});
    return true;
  }

  /** @param {string} name @param {string} reason */
  async layAside(name, reason) {
    this.warn(`a waiting call was refused and laid aside: ${reason}`);
    await mkdir(join(this.folder, "refused"), { recursive: true, mode: 0o700 });
    await rename(join(this.folder, name), join(this.folder, "refused", name));
  }

  async names() {
    try {
      return (await readdir(this.folder)).filter((name) => /^\d.*\.json$/.test(name)).sort();
    } catch {
      return [];
    }
  }
}
