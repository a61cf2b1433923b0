/**
 * What was said while nobody listened, on disk, and its delivery.
 *
 * Laws: once `say` returns, the daemon has it or the disk does. It arrives in the order in which it was said, whatever
 * the clock does, at least once; everything that waits here carries a key or may be repeated, so it counts once. What the
 * daemon refuses for good is laid aside in `refused` and blocks nothing. One file holds one call, written whole or not at
 * all.
 */
import { mkdir, open, readFile, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Refused } from "./daemon.js";

/** @import { Daemon } from "./daemon.js" */
/** @typedef {{ method: string, params: object }} Call */

const AT_ONCE_MS = 2000;
const REFUSED = "refused";

export class Spool {
  /** @param {string} folder @param {Daemon} daemon @param {(text: string) => void} warn */
  constructor(folder, daemon, warn) {
    this.folder = folder;
    this.daemon = daemon;
    this.warn = warn;
    this.count = 0;
    this.lastMoment = 0;
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
    await this.write(this.folder, await this.nextName(), call);
    this.mayWait = true;
  }

  /** Keep, beside what waits, what would be refused again; say why. @param {Call} call @param {string} reason */
  async keepAside(call, reason) {
    this.warn(`${call.method} was refused and laid aside: ${reason}`);
    await this.write(join(this.folder, REFUSED), await this.nextName(), call);
  }

  /** After every name that waits: a clock may step back, and other processes of the host write here too. */
  async nextName() {
    const newest = Number.parseInt((await this.names()).at(-1) ?? "0", 10);
    this.lastMoment = Math.max(Date.now(), newest + 1, this.lastMoment + 1);
    return `${`${this.lastMoment}`.padStart(15, "0")}-${`${++this.count}`.padStart(8, "0")}-${process.pid}.json`;
  }

  /** @param {string} folder @param {string} name @param {Call} call */
  async write(folder, name, call) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const beside = join(folder, `.${name}`);
    const file = await open(beside, "wx", 0o600);
    try {
      await file.writeFile(JSON.stringify(call));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, join(folder, name));
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
    await mkdir(join(this.folder, REFUSED), { recursive: true, mode: 0o700 });
    await rename(join(this.folder, name), join(this.folder, REFUSED, name));
  }

  async names() {
    try {
      return (await readdir(this.folder)).filter((name) => /^\d.*\.json$/.test(name)).sort();
    } catch {
      return [];
    }
  }
}
